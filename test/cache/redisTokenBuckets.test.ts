import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { RedisConnections } from "../../src/cache/redis/redisConnections.ts";
import { openRedisTokenBuckets } from "../../src/cache/redis/redisTokenBuckets.ts";
import { msUntilFull, takePoints } from "../../src/util/tokenBucket.ts";
import { timed } from "../helpers/timing.ts";
import { startRedis } from "../services/redis.ts";
import type { Server } from "../services/server.ts";

/** For what is not about the deadline, on a machine that runs much else. */
const deadlineMs = 5_000;

describe("token buckets on Redis", () => {
	let server: Server;
	before(async () => {
		server = await startRedis();
	});
	after(() => server.stop());

	const open = () =>
		openRedisTokenBuckets({
			redis: new RedisConnections(server.url),
			deadlineMs,
		});

	it("are shared by all processes, and never hold more than their limit", async () => {
		const filling = { points: 1_000, perMs: 3_600_000 };
		await using one = open();
		await using other = open();
		assert.equal((await one.take(filling, "a", 600))?.waitMs, 0);
		assert.equal((await other.take(filling, "a", 300))?.waitMs, 0);
		const { waitMs = 0, level = 0 } = (await one.take(filling, "a", 200)) ?? {};
		// 100 points short, but for what came in meanwhile.
		assert.ok(waitMs > 340_000 && waitMs <= 360_000, String(waitMs));
		assert.ok(level >= 100 && level < 106, String(level));
		assert.equal((await other.take(filling, "a", 100))?.waitMs, 0);
		assert.deepEqual(await other.take(filling, "b", 1_000), {
			waitMs: 0,
			level: 0,
		});
		assert.deepEqual(await one.take(filling, "a", -5_000), {
			waitMs: 0,
			level: 1_000,
		});
		assert.equal((await one.take(filling, "a", 1_000))?.waitMs, 0);
		assert.notEqual((await other.take(filling, "a", 100))?.waitMs, 0);
		const faster = { points: 1_000, perMs: 1_000 };
		assert.equal((await other.take(faster, "a", 1_000))?.waitMs, 0);
	});

	it("grant no more points than they hold to concurrent callers", async () => {
		const filling = { points: 100, perMs: 3_600_000 };
		await using buckets = open();
		const answers = await Promise.all(
			Array.from({ length: 60 }, () => buckets.take(filling, "rush", 3)),
		);
		assert.equal(answers.filter((answer) => answer?.waitMs === 0).length, 33);
	});

	it("refill by the clock of the server, as local ones do", async () => {
		const filling = { points: 1_000, perMs: 10_000 };
		await using buckets = open();
		// Asked together: on a busy machine there may be a second between two requests.
		const [all, more] = await Promise.all([
			buckets.take(filling, "c", 1_000),
			buckets.take(filling, "c", 50),
		]);
		assert.equal(all?.waitMs, 0);
		const { waitMs = 0 } = more ?? {};
		assert.ok(waitMs > 0 && waitMs <= 500, String(waitMs));
		await sleep(waitMs + 20);
		assert.equal((await buckets.take(filling, "c", 50))?.waitMs, 0);
		const here = takePoints(filling, { level: 0, at: 0 }, 50, 0);
		assert.equal(here.waitMs, 500);
		assert.equal(msUntilFull(filling, 950), 500);
	});

	it("return null within the deadline while Redis hangs or is down", async () => {
		const filling = { points: 10, perMs: 1_000 };
		await using own = await startRedis();
		await using buckets = openRedisTokenBuckets({
			redis: new RedisConnections(own.url),
		});
		await own.pause();
		const { ownMs } = await timed(async () => {
			for (let n = 0; n < 20; n++) {
				assert.equal(await buckets.take(filling, "d", 1), null);
			}
		});
		// The first waits for its deadline, the breaker answers for the rest.
		assert.ok(ownMs < 1_000, `after ${ownMs} ms`);
		await own.resume();
		await own.kill();
		assert.equal(await buckets.take(filling, "d", 1), null);
	});
});
