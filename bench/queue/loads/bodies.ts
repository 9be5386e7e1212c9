import type { Cell } from "../cell.ts";
import type { LoadContext } from "./load.ts";
import { untilRun } from "./running.ts";

const JOBS = 3_000;
const BATCH = 100;
const MOST_SECONDS = 30;

/** What the database writes to its logs for each job, from enqueue to ack. */
export async function bodies(
	{ system, servers, signal, agents }: LoadContext,
	bytes: number,
): Promise<Cell["values"]> {
	const target = await servers.target(system);
	const [producer, worker] = await agents("producer", "worker");
	await worker.call("prepare", target, signal);
	await producer.call("openProducer", target, signal);
	const read = () => producer.call("logBytes", target, signal);
	const before = await read();
	await producer.call(
		"enqueue",
		{
			queue: "bench",
			first: 0,
			count: JOBS,
			batch: BATCH,
			parallel: 1,
			bytes,
		},
		signal,
	);
	const between = await read();
	await worker.call("startWorker", target, signal);
	await untilRun(worker, { jobs: JOBS, seconds: MOST_SECONDS }, signal);
	await worker.call("stopWorker", null, signal);
	const after = await read();
	const { distinct } = await worker.call("runs", { times: false }, signal);
	return {
		jobs: distinct,
		enqueueLog: (between.log - before.log) / JOBS,
		runLog: (after.log - between.log) / distinct,
		log:
			(between.log - before.log) / JOBS + (after.log - between.log) / distinct,
		binlog: (after.binlog - before.binlog) / JOBS,
	};
}
