import { readFileSync } from "node:fs";
import { Redis } from "ioredis";
import { openMysqlPools } from "../../src/feed/pools/mysqlPools.ts";
import type { Pools } from "../../src/feed/pools/pools.ts";
import { type Id, packId } from "../../src/id/ids.ts";
import { startMysql } from "../../test/services/mysql.ts";
import { startRedis } from "../../test/services/redis.ts";
import type { Progress } from "../progress.ts";
import { MYSQL_OPTIONS, POOL_SHARDS, visitAll } from "./fleet.ts";
import type { Options } from "./options.ts";
import { type Measurement, percentile } from "./results.ts";

const WORKERS = 4;
/** Jobs that each worker runs at a time. */
const JOBS = 50;
const USERS = 20_000;
const FOLLOWERS = [2_000, 200, 8];
/** Entries that a timeline in Redis keeps. */
const TIMELINE = 1_000;
/** One tick in /proc/PID/stat. */
const TICK_US = 10_000;

type Push = (
	pin: Id,
	receivers: readonly Id[],
	worker: number,
) => Promise<number>;

/** Pushes pins to followers, as jobs do, and beside it into timelines of Redis. */
export async function measureRows(
	{ seconds }: Options,
	progress: Progress,
): Promise<readonly Measurement[]> {
	const users = Array.from({ length: USERS }, (_, at) =>
		packId({ shard: at % 4_096, type: 3, local: 1 + Math.floor(at / 4_096) }),
	);
	const measured: Measurement[] = [];
	const add = (name: string, values: Measurement["values"]) => {
		measured.push({ part: "rows", name, values });
		progress.say(`${name}: ${Math.round(values["rows/s"] ?? 0)} rows/s`);
	};
	{
		await using server = await startMysql({ args: MYSQL_OPTIONS });
		await using stack = new AsyncDisposableStack();
		const workers = Array.from({ length: WORKERS }, () =>
			stack.use(
				openMysqlPools({
					pools: [{ range: [0, POOL_SHARDS - 1], primary: server.url }],
					limits: { writeMs: 60_000, readMs: 60_000 },
				}),
			),
		);
		await workers[0]?.createTables();
		await visitAll(workers[0] as Pools, users);
		const push: Push = async (pin, receivers, worker) => {
			const { rows, failed } = await (workers[worker] as Pools).push(
				{ source: "user", item: pin, origin: pin, via: pin, now: Date.now() },
				receivers.map((user) => ({ user, score: 1_000_000 })),
				1,
			);
			for (const { error } of failed) throw error;
			return rows;
		};
		for (const followers of FOLLOWERS) {
			add(
				`${followers} followers a pin`,
				await pushFor(seconds, followers, users, push, server.pid),
			);
		}
	}
	await using server = await startRedis({
		args: ["--appendonly", "yes", "--appendfsync", "everysec"],
	});
	const clients = Array.from({ length: WORKERS }, () => new Redis(server.url));
	try {
		const push: Push = async (pin, receivers, worker) => {
			const pipeline = (clients[worker] as Redis).pipeline();
			for (const user of receivers) {
				pipeline.zadd(user, 1_000_000, pin);
				pipeline.zremrangebyrank(user, 0, -TIMELINE - 1);
			}
			await pipeline.exec();
			return receivers.length;
		};
		for (const followers of FOLLOWERS) {
			add(
				`${followers} followers a pin, timelines in Redis`,
				await pushFor(seconds, followers, users, push, server.pid),
			);
		}
	} finally {
		for (const client of clients) client.disconnect();
	}
	return measured;
}

let pins = 0;

async function pushFor(
	seconds: number,
	followers: number,
	users: readonly Id[],
	push: Push,
	server: number,
): Promise<Measurement["values"]> {
	const ms: number[] = [];
	let rows = 0;
	const own = process.cpuUsage();
	const serverUs = cpuOf(server);
	const began = performance.now();
	const until = began + seconds * 1_000;
	// So many rows under way that a page of many followers is not waited for.
	const jobs = Math.min(JOBS, Math.ceil(10_000 / followers));
	await Promise.all(
		Array.from({ length: WORKERS * jobs }, async (_, nth) => {
			while (performance.now() < until) {
				pins += 1;
				const pin = packId({ shard: 0, type: 1, local: pins });
				const first = (pins * 7_919) % users.length;
				const receivers = Array.from(
					{ length: followers },
					(_, at) => users[(first + at * 3) % users.length] as Id,
				);
				const at = performance.now();
				// Read after the wait: others have added theirs meanwhile.
				const added = await push(pin, receivers, nth % WORKERS);
				rows += added;
				ms.push(performance.now() - at);
			}
		}),
	);
	const took = performance.now() - began;
	const { user, system } = process.cpuUsage(own);
	return {
		"rows/s": (rows / took) * 1_000,
		"pins/s": (ms.length / took) * 1_000,
		"p50 ms": percentile(ms, 0.5),
		"p99 ms": percentile(ms, 0.99),
		"server µs CPU a row": (cpuOf(server) - serverUs) / rows,
		"worker µs CPU a row": (user + system) / rows,
	};
}

/** CPU time that a process has used. Microseconds; 0 if the system does not say. */
function cpuOf(pid: number): number {
	try {
		const text = readFileSync(`/proc/${pid}/stat`, "utf8");
		const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
		return (Number(fields[11]) + Number(fields[12])) * TICK_US;
	} catch {
		return 0;
	}
}
