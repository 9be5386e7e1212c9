import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { RedisConnections } from "../../src/cache/redis/redisConnections.ts";
import { openRedisTexts } from "../../src/cache/redis/redisTexts.ts";
import { timed } from "../helpers/timing.ts";
import { startRedis } from "../services/redis.ts";

/** On a machine that runs much else. */
const PATIENT = { deadlineMs: 5_000 };

describe("texts in Redis", () => {
	test("are found by other processes until they expire", async () => {
		await using server = await startRedis();
		await using one = openRedisTexts({
			redis: new RedisConnections(server.url),
			...PATIENT,
		});
		await using other = openRedisTexts({
			redis: new RedisConnections(server.url),
			...PATIENT,
		});
		assert.equal(await other.get("k"), null);
		await one.set("k", "{ žluť 🙂 }", 60_000);
		assert.equal(await other.get("k"), "{ žluť 🙂 }");
		await one.set("short", "x", 50);
		await sleep(120);
		assert.equal(await other.get("short"), null);
	});

	test("are not found, within the deadline, while Redis hangs or is down", async () => {
		await using server = await startRedis();
		await using texts = openRedisTexts({
			redis: new RedisConnections(server.url),
			deadlineMs: 200,
		});
		await texts.set("k", "v", 60_000);
		server.pause();
		const { result, ownMs } = await timed(() => texts.get("k"));
		assert.equal(result, null);
		assert.ok(ownMs < 2_000, `after ${ownMs} ms`);
		server.resume();
		await server.kill();
		assert.equal(await texts.get("k"), null);
		await texts.set("k", "v", 60_000);
	});

	test("are not kept by a full Redis, and no call fails", async () => {
		await using server = await startRedis({
			args: ["--maxmemory", "1", "--maxmemory-policy", "noeviction"],
		});
		await using texts = openRedisTexts({
			redis: new RedisConnections(server.url),
			...PATIENT,
		});
		await texts.set("k", "v", 60_000);
		assert.equal(await texts.get("k"), null);
	});
});
