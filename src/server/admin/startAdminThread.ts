import { setTimeout as sleep } from "node:timers/promises";
import { Worker as Thread } from "node:worker_threads";
import { CorkboardError, type ErrorCode } from "../../errors.ts";
import type {
	AdminAddress,
	AdminResponse,
	AdminServer,
	AskAdmin,
} from "./adminServer.ts";
import {
	ADMIN_RESPONSE_LIMITS,
	type AdminResponseLimits,
} from "./keepAdminResponses.ts";

/** What the thread starts with. */
export interface AdminThreadStart {
	readonly address: AdminAddress;
	readonly limits: AdminResponseLimits;
}

/** Thread to main thread. */
export type AdminThreadReport =
	| { readonly kind: "serving"; readonly url: string }
	| {
			readonly kind: "failed";
			readonly code: ErrorCode;
			readonly message: string;
	  }
	| {
			readonly kind: "question";
			readonly number: number;
			readonly path: string;
	  };

/** Main thread to thread. */
export interface MainAnswer {
	/** The number of the question. */
	readonly number: number;
	readonly answer: AdminResponse;
}

/** A thread that ended is begun anew after this. Milliseconds. */
const AGAIN_MS = 1_000;

/**
 * Runs `startAdminServer` in a thread of its own, which asks the main thread for its
 * answers. Requests keep the main thread busy for half a second at a time, and a
 * health check would take the process for dead meanwhile. If the thread ends,
 * another one is started, and what ended it goes to `onEnd`.
 */
export async function startAdminThread(
	address: AdminAddress,
	answer: AskAdmin,
	{
		limits = ADMIN_RESPONSE_LIMITS,
		onEnd,
	}: {
		readonly limits?: AdminResponseLimits;
		readonly onEnd: (error: unknown) => void;
	},
): Promise<AdminServer> {
	let isStopping = false;
	let thread: Thread | null = null;

	async function begin(at: AdminAddress): Promise<string> {
		const begun = beginThread({ address: at, limits }, answer);
		thread = begun.thread;
		const url = await begun.url;
		// A port that was free has a number now.
		const bound = { ...at, port: at.port || Number(new URL(url).port) };
		void begun.ended.then((error) => beginAgain(bound, error));
		return url;
	}

	/** Never rejects. */
	async function beginAgain(at: AdminAddress, error: unknown): Promise<void> {
		if (isStopping) return;
		onEnd(error);
		await sleep(AGAIN_MS, undefined, { ref: false });
		if (isStopping) return;
		await begin(at).catch((failed) => beginAgain(at, failed));
	}

	const url = await begin(address);
	return {
		url,
		async [Symbol.asyncDispose]() {
			isStopping = true;
			await thread?.terminate();
		},
	};
}

function beginThread(start: AdminThreadStart, answer: AskAdmin) {
	const thread = new Thread(new URL("./adminThread.mjs", import.meta.url), {
		workerData: start,
		// It keeps next to nothing. Without a limit it would be that of the main thread.
		resourceLimits: { maxYoungGenerationSizeMb: 4 },
	});
	const serving = Promise.withResolvers<string>();
	const ended = Promise.withResolvers<unknown>();
	thread.on("message", async (report: AdminThreadReport) => {
		if (report.kind === "question") {
			const { number, path } = report;
			const answered: MainAnswer = { number, answer: await answer(path) };
			thread.postMessage(answered);
		} else if (report.kind === "serving") {
			thread.unref();
			serving.resolve(report.url);
		} else {
			serving.reject(new CorkboardError(report.code, report.message));
			void thread.terminate();
		}
	});
	thread.on("error", ended.resolve);
	thread.once("exit", (code) => {
		ended.resolve(new Error(`The thread ended with exit code ${code}.`));
	});
	void ended.promise.then(serving.reject);
	return { thread, url: serving.promise, ended: ended.promise };
}
