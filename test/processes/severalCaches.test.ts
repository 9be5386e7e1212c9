import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { placingOf, serverLists } from "../../src/cache/serverList.ts";
import { unpackId } from "../../src/id/ids.ts";
import { ask } from "../services/ask.ts";
import type { Server } from "../services/server.ts";
import {
	type CacheWorld,
	CountingLoad,
	startCacheWorld,
} from "./cacheWorld.ts";
import { makePin } from "./subjects.ts";

const NONE = { memcached: [], redis: null };

describe("a fleet with several Redis and memcached", () => {
	let world: CacheWorld;
	before(async () => {
		world = await startCacheWorld(4);
	});
	after(() => world?.[Symbol.asyncDispose]());

	const FAULTS: Readonly<
		Record<string, (redis: Server, memcached: Server) => Promise<void>>
	> = {
		"are killed, and begin empty": async (redis, memcached) => {
			await Promise.all([redis.kill(), memcached.kill()]);
			await sleep(1_500);
			await Promise.all([redis.restart(), memcached.restart()]);
		},
		"are paused for half a second": async (redis, memcached) => {
			for (const each of [redis, memcached]) each.pause();
			await sleep(500);
			for (const each of [redis, memcached]) each.resume();
		},
		"are paused for five seconds": async (redis, memcached) => {
			for (const each of [redis, memcached]) each.pause();
			await sleep(5_000);
			for (const each of [redis, memcached]) each.resume();
		},
		"is replaced by one with an old dump": async (redis) => {
			await ask(redis, "SAVE", /\+OK\r\n/);
			await sleep(1_000);
			await redis.kill();
			await redis.restart();
		},
	};
	for (const [fault, inject] of Object.entries(FAULTS)) {
		it(`shows nothing old and fails nothing while one of three ${fault}, and the others' lists stay cached`, async () => {
			const caches = world.caches(3);
			const map = world.startMap(caches);
			await using first = await map.open();
			await using second = await map.open();
			await using reader = await map.open({ cacheBytes: 0 });
			await using load = await CountingLoad.start([first, second]);
			await sleep(500);
			const [redis, memcached] = [world.redis[0], world.memcached[0]];
			assert.ok(redis && memcached);
			const [list] = serverLists(caches, NONE, "lists");
			assert.ok(list);
			const placing = placingOf(list);
			const isElsewhere = (id: (typeof load.pins)[number]) =>
				!placing(unpackId(id).shard)?.id.endsWith(`:${redis.port}`);
			const quiet = await CountingLoad.start([first], 1);
			await quiet[Symbol.asyncDispose]();
			const kept = quiet.pins.filter(isElsewhere);
			assert.ok(kept.length > 4 && kept.length < quiet.pins.length);
			const readKept = () =>
				Promise.all(kept.map((pin) => reader.process.head("filePin", pin)));
			await readKept();
			await sleep(200);
			reader.fromMysql.length = 0;
			const injected = inject(redis, memcached);
			await sleep(300);
			await readKept();
			const missed = new Set(reader.fromMysql);
			assert.deepEqual(
				kept.filter((pin) => missed.has(pin)),
				[],
			);
			await injected;
			await sleep(1_000);
			await using late = await map.open({ cacheBytes: 0 });
			await load.end([reader, late]);
		});
	}

	it("changes from three to four and back while it is used, also where a process lags that nobody waits for", async () => {
		const map = world.startMap(world.caches(3));
		await using first = await map.open();
		await using second = await map.open();
		await using lagging = await map.open({ lags: true });
		await using load = await CountingLoad.start([first, second, lagging]);
		for (const count of [4, 3, 4]) {
			await map.set(world.caches(count), { without: [lagging] });
			await sleep(300);
		}
		assert.equal(lagging.source.topology.version, 1);
		assert.equal(first.source.topology.version, 7);
		await using late = await map.open({ cacheBytes: 0 });
		await load.end([late]);
	});

	it("finds nothing old at a server to which keys come back", async () => {
		const map = world.startMap(world.caches(3));
		await using member = await map.open({ cacheBytes: 0 });
		const { process } = member;
		const pins = await Promise.all(
			Array.from({ length: 32 }, (_, nth) =>
				makePin(process, { details: "old" }, nth % 16),
			),
		);
		const seen = () =>
			Promise.all(
				pins.map(async (pin) => [
					(await process.object(pin))?.details,
					(await process.head("filePin", pin)).count,
				]),
			);
		const each = (...values: readonly unknown[]) => pins.map(() => values);
		assert.deepEqual(await seen(), each("old", 0));
		await map.set(world.caches(4));
		for (const pin of pins) {
			await process.writes.modify(pin, (data) => ({ ...data, details: "new" }));
			const filed = process.mapping("filePin");
			await process.writes.setEdge(filed, pin, pin, true);
		}
		await map.set(world.caches(3));
		assert.deepEqual(await seen(), each("new", 1));
	});

	it("changes from the caches of the settings to those of the map while it is used", async () => {
		const settings = {
			redis: world.redis[0]?.url ?? "",
			memcached: world.memcached.slice(0, 1).map(({ address }) => address),
		};
		const map = world.startMap();
		await using first = await map.open(settings);
		await using second = await map.open(settings);
		await using load = await CountingLoad.start([first, second]);
		await map.set(world.caches(2));
		await sleep(300);
		assert.equal(first.source.topology.caches?.lists.length, 2);
		await using late = await map.open({ ...settings, cacheBytes: 0 });
		await load.end([late]);
	});
});
