import cluster, { type Worker } from "node:cluster";

/** A worker that does not answer in this time is passed over. Milliseconds. */
const ANSWER_MS = 1_000;

const ASK = "corkboard.findRequest";
const ANSWER = "corkboard.foundRequest";

interface Ask {
	readonly type: typeof ASK;
	readonly number: number;
	readonly id: string;
}

interface Answer {
	readonly type: typeof ANSWER;
	readonly number: number;
	readonly text: string | null;
}

/** In a worker: the primary asks for the requests that this process keeps. Until disposed. */
export function answerPrimary(find: (id: string) => string | null): Disposable {
	const listener = (message: unknown) => {
		const { type, number, id } = (message ?? {}) as Partial<Ask>;
		if (type !== ASK) return;
		const text = find(String(id));
		process.send?.({ type: ANSWER, number: Number(number), text });
	};
	process.on("message", listener);
	return { [Symbol.dispose]: () => void process.off("message", listener) };
}

let asked = 0;

/** In the primary: a request that one of the workers keeps, as JSON; null if none does. */
export async function findInWorkers(id: string): Promise<string | null> {
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
