import { spawn } from "node:child_process";
import { join } from "node:path";
import type { CommandContext } from "../commandContext.ts";

const LAUNCH = join(import.meta.dirname, "../launch.mjs");

/** A process that lifts the fences of a move when this one is gone: it reads from this one, and learns of its end by the end of that. */
export function startGuard(
	{ env }: Pick<CommandContext, "env">,
	id: string,
): Disposable {
	const guard = spawn(
		process.execPath,
		[...process.execArgv, LAUNCH, "operator", "--guard", id],
		{
			env: { ...env },
			stdio: ["pipe", "ignore", "ignore"],
			// What interrupts this process is not meant for it.
			detached: true,
		},
	);
	guard.on("error", () => {});
	guard.stdin.on("error", () => {});
	guard.unref();
	return {
		[Symbol.dispose]() {
			guard.stdin.destroy();
		},
	};
}
