import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { findEdges } from "../../../src/graph/read/edges.ts";
import { scanLists } from "../../../src/graph/read/scanLists.ts";
import { createStore } from "../../../src/graph/store/createStore.ts";
import type { Head } from "../../../src/graph/store/head.ts";
import type { Store } from "../../../src/graph/store/store.ts";
import { createCursorCodec } from "../../../src/id/cursorCodec.ts";
import type { Id } from "../../../src/id/ids.ts";
import type { Mapping } from "../../../src/model/types.ts";
import type { Position } from "../../../src/storage/rows.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";
import { theModel } from "../../helpers/model.ts";
import { sharedHeads } from "../../helpers/pagingWorld.ts";
import { readsWith, storageWith } from "../../helpers/storageWith.ts";

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
	/** The limits of all scans that reached the shards. */
	let limits: number[];
	/** Where the edges lead that were read one by one. */
	let asked: Id[];
	/** Awaited by each such read before its result arrives. */
	let heldEdges: Promise<void> | undefined;
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
	});
	after(() => graph[Symbol.asyncDispose]());
	beforeEach(() => {
		limits = [];
		asked = [];
		heldEdges = undefined;
		redis = sharedHeads();
		held = () => undefined;
	});

	/** A process with these shared caches. */
	function process({ shares = true } = {}): Store {
		const { model, domain } = theModel();
		return createStore({
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
				const results = await storage.read("edges", keys);
				await heldEdges;
				return results;
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

	it("is read as deep as needed: 0, 4, 12 or 32 edges, or what was asked beyond", async () => {
		for (const depth of [0, 1, 4, 5, 12, 13, 32, 33]) {
			redis = sharedHeads();
			assert.ok((await depthOf(process(), long, depth)) >= depth);
		}
		assert.deepEqual(limits, [0, 4, 4, 12, 12, 32, 32, 33]);
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

	it("grows with a scan that continues within it, and the shard is scanned beyond the deepest", async () => {
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
		assert.deepEqual(limits, [4, 12, 5]);
	});

	describe("with pages behind it", () => {
		/** The next edges after those of the head. */
		async function pageOf(store: Store, head: Head) {
			const after = { ...head.position(head.size - 1), epoch: head.epoch };
			const scan = { mapping, from: long, backward: false, after, limit: 5 };
			const [result] = await scanLists(store, [scan], undefined);
			assert.ok(result && "edges" in result);
			return result.edges.map(({ to }) => to);
		}

		it("keeps them until the list changes", async () => {
			const store = process({ shares: false });
			const head = await read(store, long, 32);
			const page = await pageOf(store, head);
			assert.equal(page.length, 5);
			assert.deepEqual(await pageOf(store, head), page);
			assert.deepEqual(limits, [32, 5]);
			store.invalidator.invalidateLocally({ lists: [{ mapping, from: long }] });
			assert.deepEqual(await pageOf(store, head), page);
			assert.deepEqual(limits, [32, 5, 5]);
		});

		it("keeps none whose read began before a change of the list and ended after it, also if the head was read again meanwhile", async () => {
			const store = process({ shares: false });
			const head = await read(store, long, 32);
			const { promise, resolve } = Promise.withResolvers<void>();
			held = (limit) => (limit === 5 ? promise : undefined);
			const late = pageOf(store, head);
			store.invalidator.invalidateLocally({ lists: [{ mapping, from: long }] });
			await read(store, long, 32);
			resolve();
			await late;
			await pageOf(store, head);
			assert.deepEqual(limits, [32, 5, 32, 5]);
		});

		it("counts what they take", async () => {
			const store = process({ shares: false });
			const bytes = () =>
				store.caches.levels().find(({ cache }) => cache === "heads")?.bytes ??
				0;
			const head = await read(store, long, 32);
			const before = bytes();
			await pageOf(store, head);
			const page = bytes() - before;
			assert.ok(page > 5 * 24, `${page} bytes`);
			await pageOf(store, head);
			assert.equal(bytes(), before + page);
			store.invalidator.invalidateLocally({ lists: [{ mapping, from: long }] });
			assert.equal(bytes(), 0);
		});
	});

	describe("with edges below it", () => {
		const find = async (store: Store, to: Id) => {
			const [found] = await findEdges(store, mapping, [{ from: long, to }]);
			return found;
		};
		const change = (store: Store) =>
			store.invalidator.invalidateLocally({ lists: [{ mapping, from: long }] });

		it("keeps what was asked of them, absent ones too, until the list changes", async () => {
			const store = process({ shares: false });
			const there = await find(store, deep);
			assert.ok(there && "to" in there && there.to === deep);
			assert.equal(await find(store, short), null);
			assert.deepEqual(await find(store, deep), there);
			assert.equal(await find(store, short), null);
			assert.deepEqual(asked, [deep, short]);
			change(store);
			assert.deepEqual(await find(store, deep), there);
			assert.equal(await find(store, short), null);
			assert.deepEqual(asked, [deep, short, deep, short]);
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

		it("keeps none whose read began before a change of the list and ended after it, also if the head was read again meanwhile", async () => {
			const store = process({ shares: false });
			await read(store, long, 32);
			const { promise, resolve } = Promise.withResolvers<void>();
			heldEdges = promise;
			const late = find(store, deep);
			change(store);
			await read(store, long, 32);
			resolve();
			await late;
			await find(store, deep);
			assert.deepEqual(asked, [deep, deep]);
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
		assert.deepEqual(limits, [4, 32]);
	});
});
