import type { Cell } from "../cell.ts";
import type { LoadContext } from "./load.ts";

const BATCH = 500;
const PARALLEL = 3;

/**
 * Jobs that do nothing are enqueued, then one worker runs them all. The rate is
 * that of starts; CPU is until everything is acknowledged.
 */
export async function burnDown(
	{ system, servers, signal, agents }: LoadContext,
	options: { readonly jobs: number; readonly bytes: number },
): Promise<Cell["values"]> {
	const { jobs, bytes } = options;
	const target = await servers.target(system);
	const [producer, worker] = await agents("producer", "worker");
	await worker.call("prepare", target, signal);
	await producer.call("openProducer", target, signal);

	const before = await servers.cpuMs(system);
	const producerBefore = producer.cpuMs();
	const { ms } = await producer.call(
		"enqueue",
		{
			queue: "bench",
			first: 0,
			count: jobs,
			batch: BATCH,
			parallel: PARALLEL,
			bytes,
		},
		signal,
	);
	const between = await servers.cpuMs(system);
	const producerMs = producer.cpuMs() - producerBefore;
	await producer.call("closeProducer", null, signal);

	const workerBefore = worker.cpuMs();
	const databaseBefore = await servers.cpuMs(system);
	await worker.call("startWorker", target, signal);
	await worker.call("untilRun", jobs, signal);
	await worker.call("stopWorker", null, signal);
	const workerMs = worker.cpuMs() - workerBefore;
	const databaseMs = (await servers.cpuMs(system)) - databaseBefore;
	const { distinct, repeats, firstAt, lastAt } = await worker.call(
		"runs",
		{ times: false },
		signal,
	);
	return {
		jobs,
		enqueuedPerSecond: (1_000 * jobs) / ms,
		perSecond: (1_000 * jobs) / (lastAt - firstAt),
		workerMs: workerMs / jobs,
		databaseMs: databaseMs / jobs,
		enqueueProducerMs: producerMs / jobs,
		enqueueDatabaseMs: (between - before) / jobs,
		lost: jobs - distinct,
		repeats,
	};
}
