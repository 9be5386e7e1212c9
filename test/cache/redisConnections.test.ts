import assert from "node:assert/strict";
import { test } from "node:test";
import { openRedisCache } from "../../src/cache/redis/redisCache.ts";
import { RedisConnections } from "../../src/cache/redis/redisConnections.ts";
import { openRedisTexts } from "../../src/cache/redis/redisTexts.ts";
import { openRedisTokenBuckets } from "../../src/cache/redis/redisTokenBuckets.ts";
import { openInvalidationChannel } from "../../src/freshness/channel/invalidationChannel.ts";
import { until } from "../helpers/until.ts";
import { ask } from "../services/ask.ts";
import { startRedis } from "../services/redis.ts";
import { redisClients } from "../services/redisClients.ts";
import type { Server } from "../services/server.ts";
import { kindOf } from "../suites/sharedCache.ts";

/** For what is not about deadlines, on a busy machine. */
const PATIENT = { deadlineMs: 5_000 };
const LIMIT = { points: 10, perMs: 60_000 };

function openAll(server: Server, { bucketDeadlineMs = 5_000 } = {}) {
	const redis = new RedisConnections(server.url);
	const stack = new AsyncDisposableStack();
	const events: string[] = [];
	const cache = stack.use(openRedisCache({ redis, ...PATIENT }));
	const texts = stack.use(openRedisTexts({ redis, ...PATIENT }));
	const buckets = stack.use(
		openRedisTokenBuckets({ redis, deadlineMs: bucketDeadlineMs }),
	);
	const channel = stack.use(
		openInvalidationChannel({
			homesOf: () => [redis],
			...PATIENT,
			onInvalidations: () => {},
			onMissed: () => events.push("missed"),
			onLost: () => events.push("lost"),
			onRestored: () => events.push("restored"),
		}),
	);
	let keys = 0;
	return {
		cache,
		buckets,
		channel,
		/** Uses each of them once. */
		async useAll() {
			const [[result], , taken, published] = await Promise.all([
				cache.getOrLease([`key${++keys}`]),
				texts.set("text", "x", 60_000),
				buckets.take(LIMIT, `bucket${keys}`, 1),
				channel.publish(["o 1"]),
			]);
			assert.equal(kindOf(result), "lease");
			assert.equal(await texts.get("text"), "x");
			assert.equal(taken?.waitMs, 0);
			assert.equal(published, true);
			await until("the channel", () => events.at(-1) === "restored");
		},
		[Symbol.asyncDispose]: () => stack.disposeAsync(),
	};
}

async function assertTwo(server: Server): Promise<void> {
	const { normal, pubsub } = await redisClients(server);
	assert.deepEqual({ normal, pubsub }, { normal: 1, pubsub: 1 });
}

test("the cache, the texts, the token buckets and the channel of a process use one command connection and one subscription", async () => {
	await using server = await startRedis();
	{
		await using all = openAll(server);
		await all.useAll();
		await all.useAll();
		await assertTwo(server);
	}
	await until("both to close", async () => {
		const { normal, pubsub } = await redisClients(server);
		return normal + pubsub === 0;
	});
});

test("a call that misses its deadline leaves the calls of other users their own deadlines", async () => {
	await using server = await startRedis();
	await using all = openAll(server, { bucketDeadlineMs: 50 });
	await all.useAll();
	server.pause();
	const lease = all.cache.getOrLease(["slow"]);
	assert.equal(await all.buckets.take(LIMIT, "late", 1), null);
	server.resume();
	assert.equal(kindOf((await lease)[0]), "lease");
	// The bucket's breaker lets calls through again after its pause.
	await until(
		"the buckets",
		async () => (await all.buckets.take(LIMIT, "again", 1)) !== null,
	);
	await all.useAll();
	await until("the old connection to close", async () => {
		const { normal, pubsub } = await redisClients(server);
		return normal === 1 && pubsub === 1;
	});
});

test("all users share the connection that replaces a lost one", async () => {
	await using server = await startRedis();
	await using all = openAll(server);
	await all.useAll();
	await ask(server, "CLIENT KILL TYPE normal", /\r\n$/);
	// Those whose call met the lost one skip Redis for a moment.
	await until(
		"the buckets",
		async () => (await all.buckets.take(LIMIT, "again", 1)) !== null,
	);
	await until(
		"the cache",
		async () => kindOf((await all.cache.getOrLease(["b"]))[0]) !== "down",
	);
	await until("the channel", () => all.channel.publish(["o 2"]));
	await all.useAll();
	await assertTwo(server);
});

test("a process that disposes of one user keeps the connection of the others", async () => {
	await using server = await startRedis();
	await using all = openAll(server);
	await all.useAll();
	const before = (await redisClients(server)).ids;
	await all.buckets[Symbol.asyncDispose]();
	assert.equal(await all.buckets.take(LIMIT, "a", 1), null);
	assert.equal(kindOf((await all.cache.getOrLease(["c"]))[0]), "lease");
	assert.deepEqual((await redisClients(server)).ids, before);
});
