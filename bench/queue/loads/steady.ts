import type { Cell } from "../cell.ts";
import type { LoadContext } from "./load.ts";
import { percentile, untilRun } from "./running.ts";

const PER_SECOND = 500;
/** Left out: connections are opened, and code is compiled. */
const WARM_SECONDS = 2;
const MOST_LATE_SECONDS = 20;

/** One job a call at a steady rate, beside an idle worker: from the acknowledged enqueue to the start. */
export async function steady(
	{ system, servers, signal, agents, say }: LoadContext,
	seconds: number,
): Promise<Cell["values"]> {
	const target = await servers.target(system);
	const [producer, worker] = await agents("producer", "worker");
	await worker.call("prepare", target, signal);
	await producer.call("openProducer", target, signal);
	await worker.call("startWorker", target, signal);
	const all = seconds + WARM_SECONDS;
	const jobs = Math.round(PER_SECOND * all);
	const workerBefore = worker.cpuMs();
	const databaseBefore = await servers.cpuMs(system);
	const { calledAt, acknowledgedAt, ms, firstError } = await producer.call(
		"steady",
		{
			queue: "bench",
			first: 0,
			bytes: 200,
			perSecond: PER_SECOND,
			seconds: all,
		},
		signal,
	);
	if (firstError !== null) say(`${system}: an enqueue failed: ${firstError}`);
	const failed = acknowledgedAt.filter(Number.isNaN).length;
	await untilRun(worker, { jobs, seconds: MOST_LATE_SECONDS }, signal);
	const workerMs = worker.cpuMs() - workerBefore;
	const databaseMs = (await servers.cpuMs(system)) - databaseBefore;
	const { startedAt, distinct, repeats } = await worker.call(
		"runs",
		{ times: true },
		signal,
	);
	await worker.call("stopWorker", null, signal);
	const since = (times: readonly number[]) =>
		times.flatMap((at, n) => {
			const started = startedAt[n];
			const counts =
				started != null && !Number.isNaN(at) && n >= PER_SECOND * WARM_SECONDS;
			// A job may start before its producer has read the answer.
			return counts ? [Math.max(0, started - at)] : [];
		});
	const afterAck = since(acknowledgedAt);
	const afterCall = since(calledAt);
	return {
		jobs: distinct,
		enqueuedPerSecond: (1_000 * jobs) / ms,
		failed,
		p50: percentile(afterAck, 0.5),
		p99: percentile(afterAck, 0.99),
		p50Call: percentile(afterCall, 0.5),
		p99Call: percentile(afterCall, 0.99),
		workerMs: workerMs / jobs,
		databaseMs: databaseMs / jobs,
		lost: Math.max(0, jobs - failed - distinct),
		repeats,
	};
}
