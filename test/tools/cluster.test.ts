import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { checkServers } from "../../src/fleet/preflight/checkServers.ts";
import { processConnections } from "../../src/fleet/processConnections.ts";
import { startCluster } from "../../tools/cluster/cluster.ts";
import { assertGone } from "../services/gone.ts";
import { caughtUp } from "../services/mysql.ts";

test("a cluster has two MySQL pairs with half of the shards each, memcached and Redis, has no fault with eight processes, and leaves no process or file", async () => {
	const cluster = await startCluster({ shards: 8 });
	const [first, second] = cluster.pairs;
	const halves = [
		{ range: [0, 3], primary: first.primary.url, replica: first.replica.url },
		{ range: [4, 7], primary: second.primary.url, replica: second.replica.url },
	];
	assert.deepEqual(JSON.parse(await readFile(cluster.topologyFile, "utf8")), {
		version: 1,
		shards: halves.map((half) => ({ ...half, open: true })),
		lookups: halves,
	});
	assert.deepEqual(cluster.settings, {
		CORKBOARD_TOPOLOGY: cluster.topologyFile,
		CORKBOARD_MEMCACHED: cluster.memcached.address,
		CORKBOARD_REDIS: cluster.redis.url,
	});
	for (const pair of cluster.pairs) await caughtUp(pair);
	const { faults } = await checkServers(
		cluster.topology,
		{},
		{ processes: 8, connections: processConnections(cluster.topology) },
	);
	assert.deepEqual(faults, []);
	const servers = [
		...cluster.pairs.flatMap(({ primary, replica }) => [primary, replica]),
		cluster.memcached,
		cluster.redis,
	];
	await cluster[Symbol.asyncDispose]();
	for (const server of servers) await assertGone(server);
	assert.equal(existsSync(cluster.topologyFile), false);
});
