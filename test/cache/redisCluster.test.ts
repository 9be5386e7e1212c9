import assert from "node:assert/strict";
import { it } from "node:test";
import { RedisConnections } from "../../src/cache/redis/redisConnections.ts";
import { inspectCaches } from "../../src/fleet/inspectCaches.ts";
import { reservePort } from "../services/port.ts";
import { startRedis } from "../services/redis.ts";

it("a node of a Redis Cluster is refused at the start, and by checks", async () => {
	await using server = await startRedis({ args: ["--cluster-enabled", "yes"] });
	await assert.rejects(new RedisConnections(server.url).requireNoCluster(), {
		code: "BAD_CONFIG",
		message: /is a node of a Redis Cluster/,
	});
	const settings = { memcached: [], redis: server.url };
	const reports = await inspectCaches(settings, undefined);
	assert.match(String(reports[0]?.error), /is a node of a Redis Cluster/);
});

it("a Redis that is away, and one that is no node of a cluster, are not refused", async () => {
	await using away = await reservePort();
	await new RedisConnections(
		`redis://127.0.0.1:${away.port}`,
	).requireNoCluster();
	await using server = await startRedis();
	await new RedisConnections(server.url).requireNoCluster();
});
