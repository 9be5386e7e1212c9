import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { findEdges } from "../../../src/graph/read/edges.ts";
import { scanLists } from "../../../src/graph/read/scanLists.ts";
import { DEEPEST_HEAD } from "../../../src/graph/store/head.ts";
import { Store } from "../../../src/graph/store/store.ts";
import { createCursorCodec } from "../../../src/id/cursorCodec.ts";
import type { Id } from "../../../src/id/ids.ts";
import type { Mapping } from "../../../src/model/types.ts";
import type { Position } from "../../../src/storage/rows.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";
import { theModel } from "../../helpers/model.ts";
import { sharedHeads } from "../../helpers/pagingWorld.ts";
import { readsWith, storageWith } from "../../helpers/storageWith.ts";
import { setEdges } from "../../helpers/storing.ts";

const LONG = 40;
const SHORT = 7;

/** docs/consistency.md, "Depth of heads". */
describe("a head", () => {
	let graph: Embedded;
	let mapping: Mapping;
	let long: Id;
	let short: Id;
	/** Below the deepest head of the long list. */
	let deep: Id;
	let moved: Id;
	/** Lists with more edges than pages are kept of, and than are kept at all. */
	let longer: Id;
	let longest: Id;
	/** At the end of the longest. */
	let lowest: Id;
	/** The limits of all scans that reached the shards. */
	let limits: number[];
	/** Where the edges lead that were read one by one. */
	let asked: Id[];
	let redis: ReturnType<typeof sharedHeads>;
	/** Awaited by each scan before its result arrives. */
	let held: (limit: number) => Promise<void> | undefined;

	before(async () => {
		graph = await openEmbedded();
		mapping = graph.mapping("followUser");
		const user = (username: string) =>
			graph.writes.create({ type: "User", data: { username } });
		[long, short] = await Promise.all([user("long"), user("short")]);
		for (let n = 0; n < LONG; n++) {
			const other = await user(`user_${n}`);
			await graph.writes.setEdge(mapping, long, other, true);
			if (n === 0) deep = other;
			if (n === 1) moved = other;
			if (n < SHORT) await graph.writes.setEdge(mapping, short, other, true);
		}
		[longer, longest] = await Promise.all([user("longer"), user("longest")]);
		for (const [list, edges] of [
			[longer, 310],
			[longest, DEEPEST_HEAD + 1],
		] as const) {
			const first = BigInt(list) + 100n;
			const all = Array.from({ length: edges }, (_, at) => ({
				to: String(first + BigInt(at)) as Id,
				sequence: at + 1,
			}));
			await setEdges(graph.storage, mapping, list, all);
			if (list === longest) lowest = all[0]?.to as Id;
		}
	});
	after(() => graph[Symbol.asyncDispose]());
	beforeEach(() => {
		limits = [];
		asked = [];
		redis = sharedHeads();
		held = () => undefined;
	});

	/** A process with these shared caches. */
	function process({ shares = true } = {}): Store {
		const { model, domain } = theModel();
		return new Store({
			model,
			domain,
			storage: recording(graph.storage),
			cursors: createCursorCodec(Buffer.alloc(32, 1)),
			cacheBytes: 1_000_000,
			...(shares && {
				shared: {
					objects: null,
					heads: redis.cache,
					publish: async () => true,
					publishBehindDeletes: () => null,
					untilPublished: async () => true,
					generationOf: () => 1,
				},
			}),
		});
	}

	function recording(storage: Storage): Storage {
		const read = readsWith(storage, {
			async edges(keys) {
				asked.push(...keys.map(({ to }) => to));
				return storage.read("edges", keys);
			},
			async lists(scans) {
				for (const { limit } of scans) limits.push(limit);
				const results = await storage.read("lists", scans);
				await held(scans[0]?.limit ?? 0);
				return results;
			},
		});
		return storageWith(storage, { read });
	}

	async function read(store: Store, from: Id, depth: number) {
		const [head] = await store.readHeads([{ mapping, from }], depth);
		assert.ok(head && "count" in head);
		return head;
	}

	async function depthOf(store: Store, from: Id, depth: number) {
		return (await read(store, from, depth)).size;
	}

	it("is read as deep as needed: 0, 4, 12, 32, 64 edges and so on, or what was asked beyond", async () => {
		for (const depth of [0, 1, 4, 5, 12, 13, 32, 33, 65, 2_048, 2_049]) {
			redis = sharedHeads();
			const found = await depthOf(process(), long, depth);
			assert.ok(found >= Math.min(depth, LONG));
		}
		const expected = [0, 4, 4, 12, 12, 32, 32, 64, 128, 2_048, 2_049];
		assert.deepEqual(limits, expected);
	});

	it("is enough for a shallower read, in Redis and in the process", async () => {
		const store = process();
		await depthOf(store, long, 12);
		assert.equal(await depthOf(store, long, 3), 12);
		assert.equal(await depthOf(process(), long, 3), 12);
		assert.equal(await depthOf(process(), long, 0), 12);
		assert.deepEqual(limits, [12]);
	});

	it("is replaced, in Redis and in the process, when a deeper one is needed", async () => {
		const store = process();
		await depthOf(store, long, 0);
		await depthOf(store, long, 3);
		await depthOf(store, long, 20);
		assert.equal(await depthOf(store, long, 3), 32);
		assert.equal(await depthOf(process(), long, 20), 32);
		assert.deepEqual(limits, [0, 4, 32]);
	});

	it("of a short list is complete, and enough for any read", async () => {
		const store = process();
		await depthOf(store, short, 8);
		assert.equal(await depthOf(store, short, 100), SHORT);
		assert.deepEqual(limits, [12]);
	});

	it("stays in the process when a shallower read ends after it", async () => {
		const store = process({ shares: false });
		const { promise, resolve } = Promise.withResolvers<void>();
		held = (limit) => (limit === 4 ? promise : undefined);
		const shallow = depthOf(store, long, 4);
		assert.equal(await depthOf(store, long, 12), 12);
		resolve();
		assert.equal(await shallow, 4);
		assert.equal(await depthOf(store, long, 12), 12);
		assert.deepEqual(limits, [4, 12]);
	});

	it("is read once by concurrent reads that need no deeper one", async () => {
		const store = process();
		const depths = await Promise.all(
			[12, 3, 12].map((depth) => depthOf(store, long, depth)),
		);
		assert.deepEqual(depths, [12, 12, 12]);
		assert.deepEqual(limits, [12]);
	});

	it("grows with a scan that continues within it, and behind it", async () => {
		const store = process();
		const head = await read(store, long, 32);
		const edges = head.slice();
		limits = [];
		redis = sharedHeads();
		const other = process();
		await read(other, long, 4);
		const next = async (edge: Position | undefined, limit: number) => {
			assert.ok(edge);
			const { sequence, to } = edge;
			const [result] = await scanLists(
				other,
				[
					{
						mapping,
						from: long,
						backward: false,
						after: { sequence, to, epoch: head.epoch },
						limit,
					},
				],
				undefined,
			);
			assert.ok(result && "edges" in result);
			return result.edges.map(({ to }) => to);
		};
		const expected = edges.map(({ to }) => to);
		assert.deepEqual(await next(edges[2], 3), expected.slice(3, 6));
		assert.deepEqual(await next(edges[5], 6), expected.slice(6, 12));
		assert.deepEqual(limits, [4, 12]);
		assert.equal((await next(edges[30], 5)).length, 5);
		assert.deepEqual(limits, [4, 12, 64]);
	});

	describe("with pages behind it", () => {
		/** The next edges after those of the head. */
		async function pageOf(store: Store, { from, ...head }: After) {
			const after = { ...head.position, epoch: head.epoch };
			const scan = { mapping, from, backward: false, after, limit: 5 };
			const [result] = await scanLists(store, [scan], undefined);
			assert.ok(result && "edges" in result);
			return result.edges.map(({ to }) => to);
		}

		interface After {
			readonly from: Id;
			readonly epoch: number;
			readonly position: Position;
		}

		async function endOf(store: Store, from: Id, depth: number) {
			const head = await read(store, from, depth);
			const position = head.position(depth - 1);
			return { from, epoch: head.epoch, position };
		}

		const change = (store: Store, from: Id) =>
			store.invalidator.invalidateLocally({ lists: [{ mapping, from }] });

		it("becomes a deeper one, in Redis too, until the list changes", async () => {
			const store = process();
			const end = await endOf(store, long, 32);
			const page = await pageOf(store, end);
			assert.equal(page.length, 5);
			assert.deepEqual(await pageOf(store, end), page);
			assert.deepEqual(await pageOf(process(), end), page);
			assert.deepEqual(limits, [32, 64]);
			const alone = process({ shares: false });
			await pageOf(alone, end);
			change(alone, long);
			await pageOf(alone, end);
			assert.deepEqual(limits.slice(2).length, 4);
		});

		it("is not kept if its read began before a change of the list and ended after it", async () => {
			const store = process({ shares: false });
			const end = await endOf(store, long, 32);
			const { promise, resolve } = Promise.withResolvers<void>();
			held = (limit) => (limit === 64 ? promise : undefined);
			const late = pageOf(store, end);
			change(store, long);
			await read(store, long, 32);
			resolve();
			await late;
			assert.equal((await read(store, long, 32)).size, 32);
			await pageOf(store, end);
			assert.deepEqual(limits, [32, 64, 32, 64]);
		});

		it("is read whole if the position is nobody knows how far behind it, and past the caches if it is too far", async () => {
			const end = await endOf(process(), long, 35);
			limits = [];
			redis = sharedHeads();
			const store = process();
			await read(store, long, 4);
			assert.equal((await pageOf(store, end)).length, 5);
			assert.deepEqual(limits, [4, 64]);
			limits = [];
			const ends = await endOf(process(), longer, 300);
			limits = [];
			redis = sharedHeads();
			const other = process();
			assert.equal((await pageOf(other, ends)).length, 5);
			assert.equal((await pageOf(other, ends)).length, 5);
			assert.deepEqual(limits, [12, 5, 5]);
		});
	});

	describe("that does not say whether an edge is there", () => {
		const find = async (store: Store, to: Id) => {
			const [found] = await findEdges(store, mapping, long, [to]);
			return found;
		};
		const change = (store: Store) =>
			store.invalidator.invalidateLocally({ lists: [{ mapping, from: long }] });

		it("becomes a whole one, which answers from then on, in Redis too, until the list changes", async () => {
			const store = process();
			const there = await find(store, deep);
			assert.ok(there && "positionOf" in there && there.positionOf(deep));
			assert.equal(await find(store, short), null);
			assert.deepEqual(limits, [32, 64]);
			const other = process();
			assert.ok(await find(other, deep));
			assert.equal(await find(other, short), null);
			assert.deepEqual(limits, [32, 64]);
			redis = sharedHeads();
			const alone = process();
			change(alone);
			assert.ok(await find(alone, deep));
			assert.deepEqual(limits, [32, 64, 32, 64]);
			assert.deepEqual(asked, []);
		});

		it("shows each change of one", async () => {
			const { store } = graph;
			for (const isThere of [true, false, true]) {
				await graph.writes.setEdge(mapping, long, moved, isThere);
				for (const _ of [1, 2]) {
					assert.equal((await find(store, moved)) !== null, isThere);
				}
			}
		});

		it("is not kept whole if its read began before a change of the list and ended after it", async () => {
			const store = process({ shares: false });
			await read(store, long, 32);
			const { promise, resolve } = Promise.withResolvers<void>();
			held = (limit) => (limit === 64 ? promise : undefined);
			const late = find(store, deep);
			change(store);
			await read(store, long, 32);
			resolve();
			await late;
			assert.equal((await read(store, long, 32)).complete, false);
		});

		it("is asked edge by edge if the list is longer than any", async () => {
			const [there, absent] = await findEdges(process(), mapping, longest, [
				lowest,
				short,
			]);
			assert.ok(there && "sequence" in there && there.sequence === 1);
			assert.equal(absent, null);
			assert.deepEqual(asked, [lowest, short]);
			assert.deepEqual(limits, [32]);
		});
	});

	it("grows to all of a list that is read from its end, if the list is short", async () => {
		const store = process();
		await read(store, short, 4);
		const scan = { mapping, from: short, backward: true, limit: 2 };
		for (const _ of [1, 2]) {
			const [result] = await scanLists(store, [scan], undefined);
			assert.ok(result && "edges" in result);
			assert.equal(result.edges.length, 2);
		}
		assert.deepEqual(limits, [4, 12]);
	});
});
