import { setTimeout as sleep } from "node:timers/promises";
import type { Cell } from "../cell.ts";
import type { LoadContext } from "./load.ts";

/** After the handler has ended. */
const AFTER_MS = 10_000;

/** A handler keeps the event loop of its worker busy, beside a second worker: how often is its job started? */
export async function blocks(
	{ system, servers, signal, agents }: LoadContext,
	seconds: number,
): Promise<Cell["values"]> {
	const target = await servers.target(system);
	const [producer, one, other] = await agents("producer", "worker", "worker");
	await one.call("prepare", target, signal);
	await producer.call("openProducer", target, signal);
	let starts = 0;
	for (const worker of [one, other]) {
		worker.onStarted(() => {
			starts++;
		});
		await worker.call("startWorker", target, signal);
	}
	await producer.call(
		"enqueue",
		{
			queue: "bench",
			first: 0,
			count: 1,
			batch: 1,
			parallel: 1,
			bytes: 100,
			blockMs: 1_000 * seconds,
		},
		signal,
	);
	await sleep(1_000 * seconds + AFTER_MS, undefined, { signal });
	return { seconds, starts };
}
