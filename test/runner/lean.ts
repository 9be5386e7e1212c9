/**
 * Loaded before a test file. `node:test` follows every promise, to name the test
 * that an uncaught error came from: a file that awaits much spends up to a third
 * of its CPU on that. Here it follows timers, sockets and processes only. An
 * error that came through a promise fails the file all the same, and the reporter
 * prints where it was thrown.
 */
import hooks from "node:async_hooks";

const { createHook } = hooks;
hooks.createHook = (callbacks) => {
	// The first that makes one is `node:test`, when the file declares its first test.
	hooks.createHook = createHook;
	return createHook({ ...callbacks, trackPromises: false });
};
