import type { Cell } from "../cell.ts";
import { openSimulatedClock } from "../systems/simulatedClock.ts";
import type { LoadContext } from "./load.ts";
import { untilRun } from "./running.ts";

const HOURS = 36;
const KEEP_HOURS = 6;
/** The size of a body. It is large, so that few jobs make files that are large beside those of empty partitions, and InnoDB still stores it in one page. */
const BYTES = 15_000;
const BATCH = 200;
const MOST_SECONDS = 600;
const HOUR_MS = 3_600_000;
/** Minutes of each hour at which jobs are enqueued, run, and given back. */
const AT = { enqueue: 0, run: 20, expire: 50 } as const;

/**
 * A day and a half of a queue in minutes: a burst in the first hour, then a few jobs in
 * each. Finished jobs are kept for six hours. Sizes are those of the files
 * of tables; what is kept is bodies only, of jobs that ended less than six hours ago.
 */
export async function life({
	system,
	servers,
	options,
	signal,
	agents,
	say,
}: LoadContext): Promise<Cell["values"]> {
	const { lifeJobs, lifeBurst } = options;
	const server = await servers.of(system);
	await using clock = await openSimulatedClock(server.url);
	const target = {
		...(await servers.target(system)),
		url: clock.url,
		keepHours: KEEP_HOURS,
	};
	const databases =
		system === "corkboard" ? "queue%" : `${system.replace("-", "")}\\_%`;
	const start = (Math.floor(Date.now() / HOUR_MS) + 1) * HOUR_MS;
	const setTo = (hour: number, minute: number) =>
		clock.set(start + hour * HOUR_MS + minute * 60_000);
	const [producer, worker] = await agents("producer", "worker");
	await setTo(0, 0);
	await worker.call("prepare", target, signal);

	const files: number[] = [];
	const ratios: number[] = [];
	let byteHours = 0;
	let mostBytes = 0;
	let first = 0;
	for (let hour = 0; hour < HOURS; hour++) {
		const count = hour === 0 ? lifeBurst : lifeJobs;
		await setTo(hour, AT.enqueue);
		await producer.call("openProducer", target, signal);
		await producer.call(
			"enqueue",
			{
				queue: "bench",
				first,
				count,
				bytes: BYTES,
				batch: BATCH,
				parallel: 2,
			},
			signal,
		);
		await producer.call("closeProducer", null, signal);
		first += count;
		await setTo(hour, AT.run);
		await worker.call("startWorker", target, signal);
		await untilRun(worker, { jobs: first, seconds: MOST_SECONDS }, signal);
		await worker.call("stopWorker", null, signal);
		const before = await clock.fileBytes(databases);
		await setTo(hour, AT.expire);
		await worker.call("expire", target, signal);
		const after = await clock.fileBytes(databases);

		// At minute 50, jobs of this hour and of the five before it ended less than six hours ago.
		const hoursKept = Math.min(hour + 1, KEEP_HOURS);
		const kept =
			hoursKept * lifeJobs + (hour < KEEP_HOURS ? lifeBurst - lifeJobs : 0);
		files.push(after);
		ratios.push(after / (kept * BYTES));
		byteHours += (before + after) / 2;
		mostBytes = Math.max(mostBytes, before);
		if (hour % 6 === 0) {
			say(`${system}: hour ${hour}: ${(after / 1e6).toFixed(0)} MB`);
		}
	}
	const { distinct } = await worker.call("runs", { times: false }, signal);
	return {
		hours: HOURS,
		mostMegabytes: mostBytes / 1e6,
		ratioAfterBurst: ratios[1] ?? Number.NaN,
		ratioAfterKeep: ratios[KEEP_HOURS + 1] ?? Number.NaN,
		ratioEnd: ratios.at(-1) ?? Number.NaN,
		gigabyteHours: byteHours / 1e9,
		lost: first - distinct,
	};
}
