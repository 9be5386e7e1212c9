import type { Cell } from "../cell.ts";
import type { LoadContext } from "./load.ts";
import { percentile, perSecond, untilRun } from "./running.ts";

const PER_SECOND = 500;
/** How many are run as fast as they can be, at the end of each minute. */
const BURST = 5_000;
const MOST_BURST_SECONDS = 60;

/**
 * A transaction is left open, as by a backup, while jobs come at a steady rate. At
 * the end of each minute a burst shows what rate is still possible.
 */
export async function snapshot(
	{ system, servers, signal, agents, say }: LoadContext,
	minutes: number,
): Promise<Cell["values"]> {
	const target = await servers.target(system);
	const [producer, worker] = await agents("producer", "worker");
	await worker.call("prepare", target, signal);
	await producer.call("openProducer", target, signal);
	await worker.call("startWorker", target, signal);
	await producer.call("holdSnapshot", target, signal);
	const values: Record<string, number> = {};
	for (let minute = 1; minute <= minutes; minute++) {
		const jobs = PER_SECOND * 60;
		const workerBefore = worker.cpuMs();
		const databaseBefore = await servers.cpuMs(system);
		const { acknowledgedAt } = await producer.call(
			"steady",
			{
				queue: "bench",
				first: 0,
				bytes: 200,
				perSecond: PER_SECOND,
				seconds: 60,
			},
			signal,
		);
		await untilRun(worker, { jobs, seconds: MOST_BURST_SECONDS }, signal);
		const databaseMs = (await servers.cpuMs(system)) - databaseBefore;
		const workerMs = worker.cpuMs() - workerBefore;
		const { startedAt } = await worker.call("runs", { times: true }, signal);
		const waits = acknowledgedAt.map((at, n) =>
			Math.max(0, (startedAt[n] ?? Number.POSITIVE_INFINITY) - at),
		);
		await worker.call("stopWorker", null, signal);
		await worker.call("forget", null, signal);
		await producer.call(
			"enqueue",
			{
				queue: "bench",
				first: 0,
				count: BURST,
				batch: 500,
				parallel: 3,
				bytes: 200,
			},
			signal,
		);
		await worker.call("startWorker", target, signal);
		const burst = { jobs: BURST, seconds: MOST_BURST_SECONDS };
		await untilRun(worker, burst, signal);
		const rate = perSecond(await worker.call("runs", { times: false }, signal));
		await worker.call("forget", null, signal);
		const which = minute === 1 ? "First" : "Last";
		Object.assign(values, {
			minutes: minute,
			[`rate${which}`]: rate,
			[`p99${which}`]: percentile(waits, 0.99),
			[`databaseMs${which}`]: databaseMs / jobs,
			[`workerMs${which}`]: workerMs / jobs,
		});
		say(
			`${system}: minute ${minute}: ${rate.toFixed(0)}/s in a burst, database CPU ${(databaseMs / jobs).toFixed(3)} ms per job`,
		);
	}
	await producer.call("endSnapshot", null, signal);
	await worker.call("stopWorker", null, signal);
	return values;
}
