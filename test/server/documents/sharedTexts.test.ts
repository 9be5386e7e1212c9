import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { RedisConnections } from "../../../src/cache/redis/redisConnections.ts";
import { openRedisTexts } from "../../../src/cache/redis/redisTexts.ts";
import { createDocuments } from "../../../src/server/documents/documents.ts";
import { startToy } from "../../helpers/toyServer.ts";
import { until } from "../../helpers/until.ts";
import { startRedis } from "../../services/redis.ts";

const QUERY = '{ hello(name: "all") }';
const persistedQuery = {
	version: 1,
	sha256Hash: createHash("sha256").update(QUERY).digest("hex"),
};

test("a document registered with one server runs on another through Redis, and both work without Redis", async () => {
	await using redis = await startRedis();
	await using opened = new AsyncDisposableStack();
	const [one, other, third] = await Promise.all(
		[1, 2, 3].map(async () => {
			const shared = opened.use(
				openRedisTexts({
					redis: new RedisConnections(redis.url),
					deadlineMs: 5_000,
				}),
			);
			const log = { warn: () => {} };
			return opened.use(
				await startToy({
					documents: createDocuments({ mode: "off", files: null, shared, log }),
				}),
			);
		}),
	);
	assert.ok(one && other && third);
	const byHash = async (toy: typeof one) =>
		(await toy.post({ extensions: { persistedQuery } })).text();
	const registered = await one.post({
		query: QUERY,
		extensions: { persistedQuery },
	});
	const answer = await registered.text();
	assert.equal(answer.trim(), '{"data":{"hello":"Hello all"}}');
	await until(
		"the other server to know it",
		async () => (await byHash(other)) === answer,
	);
	await redis.kill();
	assert.equal(await byHash(one), answer);
	assert.equal(await byHash(other), answer);
	assert.match(await byHash(third), /PERSISTED_QUERY_NOT_FOUND/);
});
