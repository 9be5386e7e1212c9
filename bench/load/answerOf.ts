import type { ChildProcess } from "node:child_process";

/** The next message of a process. Rejects if it ends first, or sends nothing in time. */
export function answerOf(
	child: ChildProcess,
	limitMs: number,
): Promise<unknown> {
	return new Promise((resolve, reject) => {
		const settle = () => {
			clearTimeout(timer);
			child.off("message", onMessage);
			child.off("exit", onExit);
		};
		const onMessage = (message: unknown) => {
			settle();
			resolve(message);
		};
		const onExit = (code: number | null, signal: string | null) => {
			settle();
			reject(new Error(`Process ${child.pid} ended with ${signal ?? code}.`));
		};
		const timer = setTimeout(() => {
			settle();
			reject(
				new Error(`Process ${child.pid} sent nothing in ${limitMs / 1_000} s.`),
			);
		}, limitMs);
		child.on("message", onMessage);
		child.on("exit", onExit);
	});
}
