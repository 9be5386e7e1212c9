/**
 * `npm run bench:feed`: rows that one MySQL host takes into pools, with four
 * pushers that each push pages of followers, as the jobs of new pins do. A second
 * part pushes each pin to eight followers, the mean of a real graph.
 *
 *     npm run bench:feed -- --quick   5 seconds a part instead of 30
 */
import { openMysqlPools } from "../../src/feed/mysql/mysqlPools.ts";
import { type Id, packId } from "../../src/id/ids.ts";
import { startMysql } from "../../test/services/mysql.ts";

const PUSHERS = 4;
const USERS = 20_000;
const POOL_SHARDS = 16;
const seconds = process.argv.includes("--quick") ? 5 : 30;

const server = await startMysql();
try {
	await using pools = openMysqlPools({
		pools: [{ range: [0, POOL_SHARDS - 1], primary: server.url }],
		limits: { connections: 16, writeMs: 60_000, readMs: 60_000 },
	});
	await pools.createTables();
	const users = Array.from({ length: USERS }, (_, at) =>
		packId({ shard: at % 4_096, type: 3, local: 1 + Math.floor(at / 4_096) }),
	);
	for (let at = 0; at < users.length; at += 100) {
		await Promise.all(
			users
				.slice(at, at + 100)
				.map((user) => pools.noteVisit(user, { visitedAt: Date.now() })),
		);
	}
	let pins = 0;
	for (const size of [2_000, 8]) {
		const latencies: number[] = [];
		let rows = 0;
		const cpu = process.cpuUsage();
		const began = performance.now();
		const until = began + seconds * 1_000;
		await Promise.all(
			Array.from({ length: PUSHERS }, async () => {
				while (performance.now() < until) {
					pins++;
					const pin = packId({ shard: 0, type: 1, local: pins });
					const first = (pins * 7_919) % users.length;
					const receivers = Array.from({ length: size }, (_, at) => ({
						user: users[(first + at * 3) % users.length] as Id,
						score: 1_000_000 + pins,
					}));
					const at = performance.now();
					const pushed = await pools.push(
						{
							source: "user",
							pin,
							origin: pin,
							via: users[first] as Id,
							now: Date.now(),
						},
						receivers,
						1,
					);
					for (const { error } of pushed.failed) throw error;
					latencies.push(performance.now() - at);
					rows += pushed.rows;
				}
			}),
		);
		const ms = performance.now() - began;
		const { user, system } = process.cpuUsage(cpu);
		latencies.sort((a, b) => a - b);
		const at = (part: number) =>
			(latencies[Math.floor(latencies.length * part)] ?? 0).toFixed(1);
		console.log(
			`${size} followers a pin: ${Math.round((rows / ms) * 1_000)} rows/s, ${((latencies.length / ms) * 1_000).toFixed(1)} pins/s, a pin p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, ${((user + system) / rows).toFixed(1)} µs CPU of the pusher a row`,
		);
	}
} finally {
	await server.stop();
}
