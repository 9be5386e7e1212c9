import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CHANNEL_SLOTS } from "../../../src/cache/slotVersions.ts";
import { channelOfId } from "../../../src/freshness/channels.ts";
import type { Id } from "../../../src/id/ids.ts";
import { unpackId } from "../../../src/id/ids.ts";
import { modShard } from "../../../src/storage/modShard.ts";
import { callsOf, openEmbedded } from "../../helpers/embedded.ts";
import { readsWith, storageWith } from "../../helpers/storageWith.ts";

/** docs/consistency.md, "6. Topology". */
describe("when a newer topology names another primary for some shards", () => {
	it("a process forgets what it cached of these, also of reads that run, and reads the others from its cache", async () => {
		const { promise: held, resolve: release } = Promise.withResolvers<void>();
		let isHeld = false;
		await using graph = await openEmbedded({
			wrap: (storage) =>
				storageWith(storage, {
					read: readsWith(storage, {
						async objects(ids, call) {
							const result = await storage.read("objects", ids, call);
							if (isHeld) await held;
							return result;
						},
					}),
				}),
		});
		const { store, writes, mapping } = graph;
		const users: Id[] = [];
		const shardsOfUsers = () =>
			new Set(users.map((id) => unpackId(id).shard)).size;
		while (users.length < 3 || shardsOfUsers() < 2) {
			const username = `user${users.length}`;
			users.push(await writes.create({ type: "User", data: { username } }));
		}
		const [first] = users as [Id, ...Id[]];
		const { shard } = unpackId(first);
		const other = users.find((id) => unpackId(id).shard !== shard) as Id;
		const list = (from: Id) => ({ mapping: mapping("followUser"), from });
		const key = (n: number) => ({ name: "username", key: `user${n}` });
		const read = () =>
			callsOf(async () => {
				await store.readObjects([first, other]);
				await store.readHeads([list(first), list(other)], 1);
				await store.readLookups([key(0), key(1)]);
			});
		await read();
		assert.deepEqual(await read(), []);

		const version = (id: Id) =>
			store.versions[CHANNEL_SLOTS + channelOfId(id)] as number;
		const before = [first, other].map(version) as [number, number];
		store.caches.invalidateShards({
			shards: new Set([shard]),
			modShards: new Set(),
		});
		assert.deepEqual(await read(), ["readObjects 1", "scanLists 1"]);
		assert.ok(version(first) > before[0]);
		assert.equal(version(other), before[1], "what is packed of it stays good");
		const versions = [first, other].map(version);
		const ofLookup = modShard(key(0).key, graph.storage.map.modShards);
		store.caches.invalidateShards({
			shards: new Set(),
			modShards: new Set([ofLookup]),
		});
		const isSame =
			modShard(key(1).key, graph.storage.map.modShards) === ofLookup;
		assert.deepEqual(await read(), [`readLookups ${isSame ? 2 : 1}`]);
		assert.deepEqual([first, other].map(version), versions);

		// This read is answered by the former primary.
		const shards = new Set([shard]);
		store.caches.invalidateShards({ shards, modShards: new Set() });
		isHeld = true;
		const late = store.readObjects([first]);
		store.caches.invalidateShards({ shards, modShards: new Set() });
		release();
		await late;
		const again = await callsOf(() => store.readObjects([first]));
		assert.deepEqual(again, ["readObjects 1"]);
		assert.deepEqual(await callsOf(() => store.readObjects([other])), []);
	});
});
