import type { Cell } from "../cell.ts";
import type { LoadContext } from "./load.ts";
import { perSecond, untilRun } from "./running.ts";

const BATCH = 500;
const PARALLEL = 3;
/** So many are enqueued as a producer does; the others are there sooner. */
const MOST_ENQUEUED = 20_000;
/** Slow ones are not waited for. */
const MOST_SECONDS = 20;

export interface BurnOptions {
	readonly jobs: number;
	/** The size of a body. */
	readonly bytes: number;
	/** Jobs that are there besides, and are not waited for. */
	readonly others?: {
		readonly count: number;
		readonly delayMs?: number;
		readonly priority?: 1 | 2;
	};
}

/**
 * Jobs that do nothing are enqueued, then one worker runs them all. The rate is
 * that of starts; CPU is until everything is acknowledged.
 */
export async function burnDown(
	{ system, servers, signal, agents, say }: LoadContext,
	{ jobs, bytes, others }: BurnOptions,
): Promise<Cell["values"]> {
	const target = await servers.target(system);
	const [producer, worker] = await agents("producer", "worker");
	await worker.call("prepare", target, signal);
	await producer.call("openProducer", target, signal);

	const enqueued = Math.min(jobs, MOST_ENQUEUED);
	const before = await servers.cpuMs(system);
	const producerBefore = producer.cpuMs();
	const { ms } = await producer.call(
		"enqueue",
		{
			queue: "bench",
			first: 0,
			count: enqueued,
			batch: BATCH,
			parallel: PARALLEL,
			bytes,
		},
		signal,
	);
	const enqueueDatabaseMs = (await servers.cpuMs(system)) - before;
	const enqueueProducerMs = producer.cpuMs() - producerBefore;
	await producer.call("closeProducer", null, signal);
	if (enqueued < jobs) {
		const more = { target, first: enqueued, count: jobs - enqueued };
		await producer.call("fill", more, signal);
	}
	if (others !== undefined && others.count > 0) {
		say(`${system}: storing ${others.count} jobs`);
		await producer.call("fill", { target, first: jobs, ...others }, signal);
	}

	const workerBefore = worker.cpuMs();
	const databaseBefore = await servers.cpuMs(system);
	await worker.call("startWorker", target, signal);
	await untilRun(worker, { jobs, seconds: MOST_SECONDS }, signal);
	const ran = await worker.call("runs", { times: false }, signal);
	await worker.call("stopWorker", null, signal);
	const workerMs = worker.cpuMs() - workerBefore;
	const databaseMs = (await servers.cpuMs(system)) - databaseBefore;
	const { distinct, repeats } = await worker.call(
		"runs",
		{ times: false },
		signal,
	);
	return {
		jobs: distinct,
		enqueuedPerSecond: (1_000 * enqueued) / ms,
		perSecond: perSecond(ran),
		workerMs: workerMs / distinct,
		databaseMs: databaseMs / distinct,
		enqueueProducerMs: enqueueProducerMs / enqueued,
		enqueueDatabaseMs: enqueueDatabaseMs / enqueued,
		// Not where the time was over before.
		lost: ran.distinct < jobs ? 0 : Math.max(0, jobs - distinct),
		repeats,
	};
}
