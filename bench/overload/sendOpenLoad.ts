import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { answerOf } from "../load/answerOf.ts";
import type { OpenLoad, OpenResult } from "./messages.ts";

const SENDER = join(import.meta.dirname, "sender.ts");
const EXTRA_LIMIT_MS = 60_000;

/** Sends a load from a process of its own, and returns what became of the requests, by client. */
export async function sendOpenLoad(
	load: OpenLoad,
	onStart: (pid: number) => void = () => {},
): Promise<readonly OpenResult[]> {
	const child: ChildProcess = fork(SENDER, { serialization: "advanced" });
	try {
		onStart(child.pid as number);
		const seconds = Math.max(
			...load.clients.map(({ phases }) =>
				phases.reduce((sum, phase) => sum + phase.seconds, 0),
			),
		);
		child.send(load);
		const results = await answerOf(child, seconds * 1_000 + EXTRA_LIMIT_MS);
		return results as readonly OpenResult[];
	} finally {
		child.kill("SIGKILL");
	}
}
