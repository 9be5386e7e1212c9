import cluster, { type Worker } from "node:cluster";
import type { Readiness } from "../http/health.ts";

/** A worker that does not answer in this time is passed over. Milliseconds. */
const ANSWER_MS = 1_000;

const ASK = "corkboard.ask";
const ANSWER = "corkboard.answer";

interface Ask {
	readonly type: typeof ASK;
	readonly number: number;
	/** The id of a request; null: whether it is ready. */
	readonly id: string | null;
}

interface Answer {
	readonly type: typeof ANSWER;
	readonly number: number;
	readonly text: string | null;
}

/** In a worker: the primary asks for the requests that this process keeps, and whether it is ready. Until disposed. */
export function answerPrimary({
	findRequest,
	readiness,
}: {
	findRequest(id: string): string | null;
	readiness(): Promise<Readiness>;
}): Disposable {
	const isReady = async () => ((await readiness()) === "ready" ? "yes" : null);
	const listener = async (message: unknown) => {
		const { type, number, id } = (message ?? {}) as Partial<Ask>;
		if (type !== ASK) return;
		const text = id === null ? await isReady() : findRequest(String(id));
		const answer: Answer = { type: ANSWER, number: Number(number), text };
		// It may have disconnected meanwhile.
		if (process.connected) process.send?.(answer);
	};
	process.on("message", listener);
	return { [Symbol.dispose]: () => void process.off("message", listener) };
}

/** In the primary: a request that one of the workers keeps, as JSON; null if none does. */
export function findInWorkers(id: string): Promise<string | null> {
	return firstAnswer(id);
}

/** In the primary: of the worker that says so first. */
export async function readinessOfWorkers(): Promise<Readiness> {
	return (await firstAnswer(null)) === null ? "not ready" : "ready";
}

let asked = 0;

async function firstAnswer(id: string | null): Promise<string | null> {
	const number = ++asked;
	const workers = Object.values(cluster.workers ?? {}).filter(
		(worker): worker is Worker => worker?.isConnected() === true,
	);
	const { promise, resolve } = Promise.withResolvers<string | null>();
	let left = workers.length;
	if (left === 0) return null;
	const listener = (_worker: Worker, message: unknown) => {
		const answer = (message ?? {}) as Partial<Answer>;
		if (answer.type !== ANSWER || answer.number !== number) return;
		left--;
		if (typeof answer.text === "string") resolve(answer.text);
		else if (left === 0) resolve(null);
	};
	cluster.on("message", listener);
	const timer = setTimeout(() => resolve(null), ANSWER_MS);
	for (const worker of workers) {
		// Without a listener, the error of one that was just killed would end the primary.
		worker.send({ type: ASK, number, id } satisfies Ask, () => {});
	}
	try {
		return await promise;
	} finally {
		clearTimeout(timer);
		cluster.off("message", listener);
	}
}
