import assert from "node:assert/strict";
import { test } from "node:test";
import { OpenedSharedCaches } from "../../src/app/openedSharedCaches.ts";
import type { TopologySource } from "../../src/app/openTopology.ts";
import { OPEN_GATE } from "../../src/cache/gate.ts";
import { RedisServers } from "../../src/cache/redis/redisServers.ts";
import type { ProcessCaches } from "../../src/freshness/processCaches.ts";
import { theModel } from "../helpers/model.ts";
import { until } from "../helpers/until.ts";
import { startRedis } from "../services/redis.ts";

test("channels that are proven while the agreement is waited for are not bypassed", async () => {
	await using server = await startRedis();
	await using resources = new AsyncDisposableStack();
	const redis = new RedisServers(server.url);
	let isRestored = false;
	const topology = {
		topology: { version: 1 },
		// Its store answers late.
		cacheAgreement: {
			begin: () => until("a proof", () => isRestored),
			gate: () => OPEN_GATE,
			isOverdue: false,
		},
	} as unknown as TopologySource;
	const opened = await OpenedSharedCaches.open(
		{
			model: theModel().model,
			topology,
			memcached: [],
			redis,
			hooks: {
				onChannel(state) {
					isRestored = state === "restored";
				},
			},
		},
		resources,
	);
	const bypassed = new Set<number>();
	const caches = {
		bypass(channels: ReadonlySet<number>, on: boolean) {
			for (const channel of channels) {
				if (on) bypassed.add(channel);
				else bypassed.delete(channel);
			}
		},
	} as unknown as ProcessCaches;
	opened?.listen(caches, () => {});
	assert.deepEqual([...bypassed], []);
});
