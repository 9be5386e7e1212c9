import { spawn } from "node:child_process";
import { join } from "node:path";
import type { CommandContext } from "../commandContext.ts";

const LAUNCH = join(import.meta.dirname, "../launch.mjs");

/** See `startGuard`. */
export interface Guard extends Disposable {
	/** Undefined where it could not be started. */
	readonly pid: number | undefined;
	/** Keeps this process waiting for its end, which it else does not. */
	ended(): Promise<void>;
}

/** A process that lifts the fences of a move when this one is gone: it reads from this one, and learns of its end by the end of that. */
export function startGuard(
	{ env }: Pick<CommandContext, "env">,
	id: string,
): Guard {
	const guard = spawn(
		process.execPath,
		[
			...[...process.execArgv, LAUNCH, "operator"],
			...["--guard", id, "--runner", String(process.pid)],
		],
		{
			env: { ...env },
			stdio: ["pipe", "ignore", "ignore"],
			// What interrupts this process is not meant for it.
			detached: true,
		},
	);
	const { promise, resolve } = Promise.withResolvers<void>();
	guard.on("error", () => resolve());
	guard.on("exit", () => resolve());
	guard.stdin.on("error", () => {});
	guard.unref();
	return {
		pid: guard.pid,
		ended() {
			guard.ref();
			return promise;
		},
		[Symbol.dispose]() {
			guard.stdin.destroy();
		},
	};
}
