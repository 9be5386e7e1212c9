import { parentPort, workerData } from "node:worker_threads";
import { CorkboardError } from "../../errors.ts";
import {
	type AdminResponse,
	type AskAdmin,
	startAdminServer,
} from "./adminServer.ts";
import { keepAdminResponses } from "./keepAdminResponses.ts";
import type {
	AdminThreadReport,
	AdminThreadStart,
	MainAnswer,
} from "./startAdminThread.ts";

const port = parentPort as NonNullable<typeof parentPort>;
const { address, limits } = workerData as AdminThreadStart;
const send = (report: AdminThreadReport) => port.postMessage(report);

/** Questions that the main thread has not answered, by number. */
const waiting = new Map<number, (answer: AdminResponse) => void>();
let questions = 0;
const askMain: AskAdmin = (path) =>
	new Promise((resolve) => {
		const number = ++questions;
		waiting.set(number, resolve);
		send({ kind: "question", number, path });
	});
port.on("message", ({ number, answer }: MainAnswer) => {
	waiting.get(number)?.(answer);
	waiting.delete(number);
});

try {
	const server = await startAdminServer(
		address,
		keepAdminResponses(askMain, limits),
	);
	send({ kind: "serving", url: server.url });
} catch (error) {
	if (!(error instanceof CorkboardError)) throw error;
	send({ kind: "failed", code: error.code, message: error.message });
}
