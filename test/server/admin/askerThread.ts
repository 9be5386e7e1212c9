import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

/** What a thread asks while the one that started it is paused. */
export interface AskerStart {
	readonly urls: readonly string[];
	/** How long the other is paused before. Milliseconds. */
	readonly afterMs: number;
	/** The first is 1 when the other is paused, the second when all is asked. */
	readonly state: Int32Array;
}

export interface Asked {
	readonly status: number;
	readonly age: string | null;
	readonly text: string;
	readonly ms: number;
}

const { urls, afterMs, state } = workerData as AskerStart;

async function ask(url: string): Promise<Asked> {
	const began = performance.now();
	const response = await fetch(url);
	const text = await response.text();
	const ms = performance.now() - began;
	return {
		status: response.status,
		age: response.headers.get("age"),
		text,
		ms,
	};
}

const before: Asked[] = [];
for (const url of urls) before.push(await ask(url));
parentPort?.postMessage(before);
Atomics.wait(state, 0, 0);
await sleep(afterMs);
const meanwhile: Asked[] = [];
for (const url of urls) meanwhile.push(await ask(url));
parentPort?.postMessage(meanwhile);
Atomics.store(state, 1, 1);
Atomics.notify(state, 1);
