import { spawn } from "node:child_process";
import type { Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { CommandContext } from "../commandContext.ts";

const LAUNCH = join(import.meta.dirname, "../launch.mjs");

/** See `startGuard`. */
export interface Guard extends Disposable {
	/** Undefined if it could not be started. */
	readonly pid: number | undefined;
	/** Keeps this process waiting for its end, which it else does not. */
	ended(): Promise<void>;
}

/** A process that lifts the fences of a move when this one is gone: it reads from this one, and learns of its end by the end of that. */
export function startGuard(
	{ env, stderr }: Pick<CommandContext, "env" | "stderr">,
	id: string,
): Guard {
	const guard = spawn(
		process.execPath,
		[
			...[...process.execArgv, LAUNCH, "controller"],
			...["--guard", id, "--runner", String(process.pid)],
		],
		{
			env: { ...env },
			stdio: ["pipe", "ignore", "pipe"],
			// What interrupts this process is not meant for it.
			detached: true,
		},
	);
	const { promise, resolve } = Promise.withResolvers<void>();
	let isNeeded = true;
	const failed = (why: string) => {
		if (isNeeded) {
			stderr(
				`the guard of ${id} has failed (${why}): if this command dies while writes wait, run corkboard controller to lift their fences`,
			);
		}
		resolve();
	};
	guard.on("error", ({ message }) => failed(message));
	guard.on("exit", (code, signal) => {
		if (code === 0) resolve();
		else failed(signal ?? `exit code ${code}`);
	});
	guard.stdin.on("error", () => {});
	createInterface(guard.stderr).on("line", (line) => stderr(`guard: ${line}`));
	// It does not keep this process, unless that waits for its end.
	(guard.stderr as Socket).unref();
	guard.unref();
	return {
		pid: guard.pid,
		ended() {
			guard.ref();
			return promise;
		},
		[Symbol.dispose]() {
			isNeeded = false;
			guard.stdin.destroy();
		},
	};
}
