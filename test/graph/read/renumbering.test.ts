import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { CorkboardError } from "../../../src/errors.ts";
import { applyEdges } from "../../../src/graph/outbox/parts/edgeUpdates.ts";
import { View } from "../../../src/graph/read/view.ts";
import { Store } from "../../../src/graph/store/store.ts";
import { WritePipeline } from "../../../src/graph/write/pipeline.ts";
import { createCursorCodec } from "../../../src/id/cursorCodec.ts";
import type { Id } from "../../../src/id/ids.ts";
import { KEPT_RENUMBERINGS } from "../../../src/storage/renumbering.ts";
import { PRESENT } from "../../../src/storage/rows.ts";
import {
	callsOf,
	type Embedded,
	openEmbedded,
} from "../../helpers/embedded.ts";
import { theModel } from "../../helpers/model.ts";
import {
	ALL,
	ChangingList,
	checkCase,
	hooked,
	idsOf,
	makeObjects,
	NO_HOOK,
	type PagingWorld,
	pageThrough,
	pagingCase,
	pagingRuns,
	sharedHeads,
} from "../../helpers/pagingWorld.ts";
import { listOf } from "../../helpers/storing.ts";

/** One process hears of changes, the other keeps the heads it has read. */
async function openWorld(
	graph: Embedded,
	{ cacheBytes }: { readonly cacheBytes: number },
): Promise<PagingWorld> {
	const { model, domain } = theModel();
	const hook = { before: NO_HOOK };
	const heads = sharedHeads();
	const open = (storage = graph.storage) =>
		new Store({
			model,
			domain,
			storage,
			cursors: createCursorCodec(Buffer.alloc(32, 1)),
			cacheBytes,
			shared: {
				objects: null,
				heads: heads.cache,
				publish: async () => true,
				publishBehindDeletes: () => null,
				untilPublished: async () => true,
				generationOf: () => 1,
			},
		});
	const objects = await makeObjects((type, data) =>
		graph.writes.create({ type, data }),
	);
	return {
		storage: graph.storage,
		writer: open(),
		processes: [true, false].map((hearsChanges) => ({
			store: open(hooked(graph.storage, hook)),
			hearsChanges,
		})),
		mapping: graph.mapping("placePin"),
		...objects,
		keepShared: heads.keep,
		hook,
	};
}

describe("pages of a list that is renumbered", () => {
	let graph: Embedded;
	let world: PagingWorld;
	before(async () => {
		graph = await openEmbedded({ shards: 1 });
		world = await openWorld(graph, { cacheBytes: 10_000_000 });
	});
	after(() => graph[Symbol.asyncDispose]());

	/** Twelve objects without gaps, and their names in the list's order. */
	async function dense(objects = world.visible.slice(0, 12)) {
		const list = new ChangingList(world);
		await list.fill(objects, Array(objects.length).fill(1));
		const order = [...list.order];
		return { list, at: (n: number) => order[n] as Id, order };
	}
	const [HEARS, OLD] = [0, 1];

	/** Calls `work` before the given calls of a process to the shards, counted from 1. */
	function during(
		calls: (call: number, verb: string) => boolean,
		work: () => Promise<void>,
	): Disposable {
		let call = 0;
		world.hook.before = async (verb) => {
			if (/Objects$/.test(verb)) return;
			call += 1;
			if (calls(call, verb)) await work();
		};
		return {
			[Symbol.dispose]() {
				world.hook.before = NO_HOOK;
			},
		};
	}

	for (const backward of [false, true]) {
		const way = backward ? "backward" : "forward";

		it(`continue from a cursor after a renumbering, and another one before any of the calls that follow, ${way}`, async () => {
			for (const last of [1, 2, 3, 4, 5, 6]) {
				for (const onlyThat of [true, false]) {
					const { list, at, order } = await dense();
					using _ = during(
						(call) => (onlyThat ? call === last : call <= last),
						() => list.renumber(at(6)),
					);
					const met = await pageThrough(list, backward, async (page) => {
						if (page === 1) await list.renumber(at(3));
						return { size: 4, process: HEARS };
					});
					assert.deepEqual(met, backward ? order.toReversed() : order);
				}
			}
		});

		it(`continue in a process that keeps the head from before a renumbering, ${way}`, async () => {
			const { list, at, order } = await dense();
			await list.page(OLD, { first: 12 });
			world.keepShared(true);
			await list.renumber(at(4));
			for (const first of [HEARS, OLD]) {
				const met = await pageThrough(list, backward, async (page) => ({
					size: 4,
					process: page === 0 ? first : 1 - first,
				}));
				assert.deepEqual(met, backward ? order.toReversed() : order);
			}
			world.keepShared(false);
		});

		it(`continue where a cursor's own edge was, after it has moved or left and the list was renumbered, ${way}`, async () => {
			const [first, third, far] = backward ? [11, 8, 0] : [0, 3, 11];
			for (const leave of ["move", "remove", "restore"] as const) {
				const { list, at, order } = await dense();
				const met = await pageThrough(list, backward, async (page) => {
					if (page !== 1) return { size: 4, process: HEARS };
					if (leave === "move") await list.move(at(third), at(far), !backward);
					else await list.remove(at(third));
					if (leave === "restore") await list.restore(at(third));
					await list.renumber(at(first));
					await list.renumber(at(5));
					return { size: 4, process: HEARS };
				});
				const unmoved = (ids: readonly Id[]) =>
					ids.filter((id) => id !== at(third));
				const expected = unmoved(order);
				assert.deepEqual(
					unmoved(met),
					backward ? expected.toReversed() : expected,
				);
			}
		});

		it(`behind hidden objects go on after a renumbering between two top-ups, ${way}`, async () => {
			const { visible, hidden } = world;
			for (const call of [1, 2, 3, 4, 5, 6]) {
				const { list, order } = await dense([
					...visible.slice(0, 3),
					...hidden.slice(0, 9),
					...visible.slice(3, 6),
					...hidden.slice(9, 18),
					...visible.slice(6, 8),
				]);
				const expected = order.filter((id) => visible.includes(id));
				using _ = during(
					(count) => count >= call && count < call + 3,
					() => list.renumber(order[10] as Id),
				);
				const met = await pageThrough(list, backward, async () => ({
					size: 2,
					process: HEARS,
				}));
				assert.deepEqual(met, backward ? expected.toReversed() : expected);
			}
		});
	}

	it("report neighbors of the page right though the list is renumbered before each call", async () => {
		const { list, at, order } = await dense();
		const whole = await list.page(HEARS, { first: 12 });
		const cursors = whole.edges.map((edge) => edge.cursor());
		await list.renumber(at(2));
		for (const [after, before] of [
			[2, 6],
			[5, 6],
			[5, 3],
			[11, 11],
			[0, 0],
			[0, 11],
		] as const) {
			let left = 3;
			using _ = during(
				() => left-- > 0,
				() => list.renumber(at(after)),
			);
			const page = await list.page(HEARS, {
				first: 12,
				after: cursors[after] as string,
				before: cursors[before] as string,
			});
			assert.deepEqual(idsOf(page), order.slice(after + 1, before));
			assert.deepEqual([page.hasPreviousPage, page.hasNextPage], [true, true]);
		}
	});

	it("are UNAVAILABLE if every scan finds the list renumbered, and read it six times at most", async () => {
		const { list, at } = await dense();
		const { endCursor } = await list.page(HEARS, { first: 3 });
		await list.renumber(at(2));
		const { store } = world.processes[HEARS] as (typeof world.processes)[0];
		let scans = 0;
		using _ = during(
			(_, verb) => {
				if (verb === "scanLists") scans++;
				return verb === "scanLists" || verb === "readRenumberings";
			},
			() => list.renumber(at(2)),
		);
		const [page] = await new View(store, null).readPages(
			world.mapping,
			[list.from],
			{ first: 3, after: endCursor as string, fields: ALL },
		);
		assert.ok(page instanceof CorkboardError);
		assert.equal(page.code, "UNAVAILABLE");
		assert.equal(page.message, "The list is being renumbered. Try again.");
		assert.equal(scans, 6);
	});

	it("have the order of many moves, delivered together, to places without gaps", async () => {
		const { list, at, order } = await dense();
		const { visible, mapping, writer, storage } = world;
		const moved = visible.slice(12, 18);
		const places = [0, 2, 4, 6, 8, 10].map(at);
		await applyEdges(
			new WritePipeline(writer),
			moved.map((to, n) => ({
				mapping: mapping.name,
				from: list.from,
				to,
				state: PRESENT,
				version: 2,
				sequence: null,
				after: places[n] as Id,
			})),
		);
		const { tos } = await listOf(storage, mapping, list.from);
		assert.deepEqual(
			tos,
			order.flatMap((id) => {
				const place = places.indexOf(id);
				return place < 0 ? [id] : [id, moved[place] as Id];
			}),
		);
	});

	it("refuse a cursor from before more renumberings than are stored", async () => {
		const { list, at, order } = await dense();
		const { endCursor } = await list.page(HEARS, { first: 3 });
		const next = () =>
			list.page(HEARS, { first: 2, after: endCursor as string });
		for (let n = 0; n < KEPT_RENUMBERINGS; n++) await list.renumber(at(0));
		assert.deepEqual(idsOf(await next()), order.slice(3, 5));
		await list.renumber(at(0));
		await assert.rejects(next(), {
			code: "BAD_USER_INPUT",
			message: /^The cursor is of another state of the list/,
		});
	});

	it("refuse a cursor of a later epoch than the list has, and the list can be renumbered again", async () => {
		const { list, at, order } = await dense();
		for (let n = 0; n < 3; n++) await list.renumber(at(4));
		const { endCursor } = await list.page(OLD, { first: 3 });
		{
			using file = new DatabaseSync(join(graph.folder, "db00000.sqlite"));
			file
				.prepare("UPDATE lists SET epoch = 1 WHERE from_id = ?")
				.run(BigInt(list.from));
		}
		await assert.rejects(
			list.page(HEARS, { first: 3, after: endCursor as string }),
			{ code: "BAD_USER_INPUT" },
		);
		await list.renumber(at(4));
		const met = await pageThrough(list, false, async () => ({
			size: 5,
			process: HEARS,
		}));
		assert.deepEqual(met, order);
		assert.equal(
			(await listOf(world.storage, world.mapping, list.from)).epoch,
			2,
		);
	});

	it("take no call while the epochs agree and the head is there, and after a renumbering one for the head and one for what moved", async () => {
		const { list, at } = await dense();
		const { endCursor } = await list.page(HEARS, { first: 3 });
		const page = async () => {
			const calls = await callsOf(() =>
				list.page(HEARS, { first: 3, after: endCursor as string }, NEXT_ONLY),
			);
			// Objects are cached, but for ten seconds only.
			return calls.filter((call) => !call.startsWith("readObjects"));
		};
		// The head was as deep as the first page.
		assert.deepEqual(await page(), ["scanLists 1"]);
		assert.deepEqual(await page(), []);
		await list.renumber(at(1));
		assert.deepEqual(await page(), ["scanLists 1", "readRenumberings 1"]);
		assert.deepEqual(await page(), ["readRenumberings 1"]);
	});

	it("meet every unmoved object once in random interleavings of moves, renumberings and old heads", async () => {
		await fc.assert(
			fc.asyncProperty(pagingCase, (one) => checkCase(world, one)),
			{ numRuns: pagingRuns(40) },
		);
	});
});

const NEXT_ONLY = { ...ALL, hasPreviousPage: false };
