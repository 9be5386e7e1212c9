import assert from "node:assert/strict";
import { describe, it, mock } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ALL_CHANNELS } from "../../../src/cache/slotVersions.ts";
import { CorkboardError } from "../../../src/errors.ts";
import { OutboxReader } from "../../../src/freshness/outboxReader.ts";
import {
	OutboxWatch,
	SETTLED_MS,
	UNPROVEN_MS,
	UNREAD_MS,
} from "../../../src/freshness/outboxWatch.ts";
import type { Store } from "../../../src/graph/store/store.ts";
import type {
	OutboxKey,
	OutboxLook,
	StoredEntry,
} from "../../../src/storage/rows.ts";
import type { ChangedShards } from "../../../src/topology/ranges.ts";
import type { JsonObject } from "../../../src/util/json.ts";

const A_SECOND = 1_000;
/** It stands in `unreadable` for the row that says that a process publishes nothing. */
const MOD_SHARD = -1;

function entry(shard: number, local: number, id = `${local}`): StoredEntry {
	return {
		shard,
		local,
		entry: { invalidations: { objects: [id], lists: [] } } as JsonObject,
	};
}

/** Two shards on two hosts, with a clock that the test moves; looks begin when the test says so. */
function watched() {
	let now = 0;
	const outbox: StoredEntry[] = [];
	/** Local ids of entries that are gone after a look. */
	const gone = new Set<number>();
	const unreadable = new Set<number>();
	const hosts = ["host0", "host1"];
	const applied: string[][] = [];
	const bypassed: (readonly number[])[] = [];
	const limited: boolean[] = [];
	const briefly: boolean[] = [];
	/** After which entry each page of the first host began. */
	const afters: number[] = [];
	const dropped: (readonly number[])[] = [];
	/** What each host gives next. */
	const next = [1, 1];
	const row: { token?: string } = {};
	const storage = {
		map: {
			get outboxes() {
				return hosts.map((host, shard) => ({ host, shards: [shard] }));
			},
			hostOf: (shard: number) => hosts[shard],
		},
		read: (kind: keyof typeof reads, keys: readonly never[]) =>
			reads[kind](keys),
	};
	const reads = {
		outboxes: async (looks: readonly OutboxLook[]) =>
			looks.map(({ outbox: { shards }, untaken, ...asked }) => {
				if (shards[0] === 0) afters.push(untaken?.after ?? -1);
				return shards.some((shard) => unreadable.has(shard))
					? new CorkboardError("UNAVAILABLE", "down")
					: {
							untaken: outbox
								.filter(
									({ shard, local }) =>
										shards.includes(shard) && local > (untaken?.after ?? 0),
								)
								.slice(0, untaken?.limit),
							due: [],
							next: asked.next ? (next[shards[0]] ?? null) : null,
						};
			}),
		lookups: async () =>
			unreadable.has(MOD_SHARD)
				? [new CorkboardError("UNAVAILABLE", "down")]
				: [row.token === undefined ? null : { id: "0", ...row }],
		entries: async (keys: readonly OutboxKey[]) =>
			keys.map(
				({ shard, local }) =>
					outbox.find(
						(one) =>
							one.shard === shard && one.local === local && !gone.has(local),
					) ?? null,
			),
	};
	const store = {
		storage,
		caches: {
			limitAge: (on: boolean) => limited.push(on),
			applyInvalidations(keys: readonly string[]) {
				if (keys.length > 0) applied.push([...keys]);
			},
			keepBriefly: (_: ReadonlySet<number>, on: boolean) => briefly.push(on),
			invalidateShards: (changed: ChangedShards) =>
				dropped.push([...changed.shards]),
			bypassShards: (shards: ReadonlySet<number> | null) =>
				bypassed.push([...(shards ?? [])]),
		},
	} as unknown as Store;
	mock.timers.enable({ apis: ["setTimeout"] });
	const reader = new OutboxReader(store.storage);
	const watch = new OutboxWatch(store, reader, { now: () => now });
	return {
		outbox,
		gone,
		unreadable,
		hosts,
		applied,
		bypassed,
		limited,
		briefly,
		afters,
		dropped,
		next,
		row,
		watch,
		/** Moves the clock, and lets every host be looked at. */
		async pass(ms: number) {
			now += ms;
			mock.timers.tick(1_200);
			for (let turn = 0; turn < 10; turn++) await nextTurn();
		},
		async [Symbol.asyncDispose]() {
			await reader[Symbol.asyncDispose]();
			await watch[Symbol.asyncDispose]();
			mock.timers.reset();
		},
	};
}

/** docs/consistency.md "Freshness by protocol". */
describe("the watch over outboxes", () => {
	it("applies, once, what nobody published for three seconds, counted from the look before it was found", async () => {
		await using world = watched();
		const { outbox, applied, pass } = world;
		await pass(0);
		outbox.push(entry(0, 1));
		await pass(A_SECOND);
		await pass(A_SECOND);
		assert.deepEqual(applied, []);
		await pass(A_SECOND);
		assert.deepEqual(applied, [["!o 1"]]);
		await pass(A_SECOND);
		assert.equal(applied.length, 1);
	});

	it("applies an entry of a promoted replica that has the local id of one that it had applied", async () => {
		await using world = watched();
		const { outbox, hosts, applied, bypassed, pass, watch } = world;
		outbox.push(entry(0, 1));
		await pass(4 * A_SECOND);
		assert.deepEqual(applied, [["!o 1"]]);
		hosts[0] = "promoted";
		outbox.splice(0, 1, entry(0, 1, "2"));
		watch.check();
		for (let second = 0; second < 4; second++) await pass(A_SECOND);
		assert.deepEqual(applied, [["!o 1"], ["!o 2"]]);
		assert.deepEqual(bypassed, []);
	});

	it("applies nothing of entries that were taken or deleted in time", async () => {
		await using world = watched();
		const { outbox, applied, pass } = world;
		await pass(0);
		for (let second = 0; second < 10; second++) {
			outbox.splice(0, 1, entry(0, second + 1));
			await pass(A_SECOND);
		}
		assert.deepEqual(applied, []);
	});

	it("bypasses a shard that could not be read for five seconds, no other, and until it is read", async () => {
		await using world = watched();
		const { unreadable, bypassed, watch, pass } = world;
		await pass(0);
		unreadable.add(1);
		await pass(UNREAD_MS - 1);
		watch.check();
		assert.deepEqual(bypassed, []);
		await pass(2);
		watch.check();
		assert.deepEqual(bypassed, [[1]]);
		await pass(60 * A_SECOND);
		unreadable.clear();
		await pass(A_SECOND);
		assert.deepEqual(bypassed, [[1], []]);
	});

	it("applies at once what it finds after such a time, however young it may be", async () => {
		await using world = watched();
		const { outbox, unreadable, applied, pass } = world;
		await pass(0);
		unreadable.add(1);
		await pass(10 * A_SECOND);
		outbox.push(entry(1, 1), entry(0, 2));
		unreadable.clear();
		await pass(A_SECOND);
		assert.deepEqual(applied, [["!o 1"]]);
	});

	it("reads every page of a shard before it counts as read", async () => {
		await using world = watched();
		const { outbox, applied, pass } = world;
		await pass(0);
		for (let local = 1; local <= 2_500; local++) outbox.push(entry(0, local));
		await pass(4 * A_SECOND);
		assert.equal(applied.flat().length, 2_500);
	});

	it("looks no more at entries that it applied long ago, until the last of these is gone", async () => {
		await using world = watched();
		const { outbox, applied, afters, pass } = world;
		await pass(0);
		outbox.push(entry(0, 1), entry(0, 2), entry(0, 3));
		await pass(A_SECOND);
		for (let n = 0; n < 4; n++) await pass(A_SECOND);
		assert.equal(applied.flat().length, 3);
		assert.ok(afters.every((after) => after === 0));
		await pass(SETTLED_MS);
		afters.length = 0;
		outbox.push(entry(0, 4));
		for (let n = 0; n < 4; n++) await pass(A_SECOND);
		assert.deepEqual(afters, [2, 2, 2, 2]);
		assert.deepEqual(applied.at(-1), ["!o 4"]);
		outbox.splice(2, 1);
		afters.length = 0;
		await pass(A_SECOND);
		await pass(A_SECOND);
		assert.deepEqual(afters, [2, 0, 0]);
	});

	it("limits ages while a process writes that publishes nothing", async () => {
		await using world = watched();
		const { row, limited, pass } = world;
		await pass(0);
		row.token = `${Date.now() - 1}`;
		await pass(A_SECOND);
		assert.deepEqual(limited, []);
		row.token = `${Date.now() + 60_000}`;
		await pass(A_SECOND);
		await pass(A_SECOND);
		assert.deepEqual(limited, [true]);
		row.token = `${Date.now() - 1}`;
		await pass(A_SECOND);
		assert.deepEqual(limited, [true, false]);
	});

	it("limits ages while it cannot be read for five seconds whether one does", async () => {
		await using world = watched();
		const { unreadable, limited, watch, pass } = world;
		await pass(0);
		unreadable.add(MOD_SHARD);
		await pass(UNREAD_MS + 1);
		watch.check();
		assert.deepEqual(limited, [true]);
		unreadable.clear();
		await pass(A_SECOND);
		assert.deepEqual(limited, [true, false]);
	});

	it("drops everything for a row that cannot be read, and what an entry of a newer version names", async () => {
		await using world = watched();
		const { outbox, applied, pass } = world;
		await pass(0);
		outbox.push({ shard: 0, local: 1, entry: null });
		outbox.push({ shard: 0, local: 2, entry: { invalidations: 7 } });
		outbox.push({
			shard: 0,
			local: 3,
			entry: {
				unknown: [{}],
				invalidations: {
					objects: ["5"],
					lists: [{ mapping: "likePin", from: "6" }],
				},
			},
		});
		outbox.push({ shard: 0, local: 4, entry: { unknown: [] } });
		await pass(4 * A_SECOND);
		assert.deepEqual(applied, [["*", "!o 5", "!h likePin 6"]]);
	});
});

/** docs/consistency.md "Without Redis for a time". Of the two shards, 0 is on channel 0. */
describe("the watch over outboxes, while a channel is lost", () => {
	const LOST = new Set([0]);

	/** The channel is lost, and each host was looked at twice. */
	async function lost() {
		const world = watched();
		await world.pass(0);
		world.watch.lose(LOST, true);
		assert.deepEqual(world.bypassed, [[0]]);
		await world.pass(0);
		assert.deepEqual(world.bypassed, [[0], []]);
		await world.pass(0);
		assert.deepEqual(world.dropped, [[0], [1], [0], [1]]);
		assert.deepEqual(world.briefly, [true]);
		world.dropped.length = 0;
		return world;
	}

	it("uses nothing of its shards before the first look, drops what was kept before the second, and then applies what it finds at once", async () => {
		await using world = await lost();
		const { outbox, applied, dropped, next, pass } = world;
		outbox.push(entry(0, 1));
		next[0] = 2;
		await pass(A_SECOND);
		assert.deepEqual(applied, [["!o 1"]]);
		await pass(A_SECOND);
		assert.deepEqual([applied.length, dropped], [1, []]);
	});

	for (const [what, lost, keys] of [
		[
			"objects, but no heads, which nobody reads without Redis",
			ALL_CHANNELS,
			["!o 5", "h likePin 6"],
		],
		[
			"heads too, where only one Redis of several is lost",
			LOST,
			["!o 5", "!h likePin 6"],
		],
	] as const) {
		it(`deletes ${what}, in shared caches`, async () => {
			await using world = watched();
			const { outbox, applied, next, watch, pass } = world;
			await pass(0);
			watch.lose(lost, true);
			for (let look = 0; look < 2; look++) await pass(0);
			const lists = [{ mapping: "likePin", from: "6" }];
			outbox.push({
				shard: 0,
				local: 1,
				entry: { invalidations: { objects: ["5"], lists } },
			});
			next[0] = 2;
			await pass(A_SECOND);
			assert.deepEqual(applied, [keys]);
		});
	}

	it("deletes there what an entry names that is old enough, though it drops all that it kept at each look", async () => {
		await using world = watched();
		const { outbox, applied, next, watch, pass } = world;
		await pass(0);
		watch.lose(LOST, true);
		outbox.push(entry(0, 1));
		next[0] = 2;
		for (let look = 0; look < 3; look++) {
			assert.deepEqual(applied, []);
			// An id without an entry: others publish and delete.
			next[0] += 1;
			await pass(A_SECOND);
		}
		assert.deepEqual(applied, [["!o 1"]]);
	});

	it("drops what belongs to a host that has given an id of which two looks find no entry, and nothing for one that is committed later", async () => {
		await using world = await lost();
		const { outbox, applied, dropped, next, pass } = world;
		next[0] = 2;
		await pass(A_SECOND);
		outbox.push(entry(0, 1));
		await pass(A_SECOND);
		assert.deepEqual([applied, dropped], [[["!o 1"]], []]);
		next[0] = 3;
		await pass(A_SECOND);
		assert.deepEqual(dropped, []);
		await pass(A_SECOND);
		assert.deepEqual(dropped, [[0]]);
		await pass(A_SECOND);
		assert.deepEqual(dropped, [[0]]);
	});

	it("drops the host of an entry that is gone before it is read", async () => {
		await using world = await lost();
		const { outbox, gone, applied, dropped, next, pass } = world;
		outbox.push(entry(0, 1));
		next[0] = 2;
		gone.add(1);
		await pass(A_SECOND);
		assert.deepEqual([applied, dropped], [[], [[0]]]);
	});

	it("bypasses the shards of a host that it could not look at, or whose ids it cannot account for, and checks that before anything is read", async () => {
		await using world = await lost();
		const { unreadable, bypassed, watch, pass } = world;
		unreadable.add(0).add(1);
		await pass(UNPROVEN_MS - 500);
		watch.check();
		assert.deepEqual(bypassed, [[0], []]);
		assert.equal(watch.isOverdue, false);
		await pass(A_SECOND + 1);
		assert.equal(watch.isOverdue, true);
		watch.check();
		assert.deepEqual(bypassed, [[0], [], [0]]);
		unreadable.clear();
		await pass(A_SECOND);
		assert.deepEqual(bypassed, [[0], [], [0], []]);
	});

	it("begins anew where the server counts from another number, and asks for it no more once invalidations are received", async () => {
		await using world = await lost();
		const { next, dropped, briefly, bypassed, watch, pass } = world;
		next[0] = 50_000;
		await pass(A_SECOND);
		assert.deepEqual(dropped, [[0]]);
		next[0] = 7;
		await pass(A_SECOND);
		assert.deepEqual(dropped, [[0], [0]]);
		await pass(A_SECOND);
		await pass(A_SECOND);
		assert.deepEqual(dropped.splice(0), [[0], [0], [0]]);
		watch.lose(LOST, false);
		next[0] = 9;
		await pass(A_SECOND);
		await pass(A_SECOND);
		assert.deepEqual(dropped, []);
		assert.deepEqual([briefly, bypassed.at(-1)], [[true, false], []]);
		assert.equal(watch.isOverdue, false);
	});
});
