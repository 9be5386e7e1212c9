import assert from "node:assert/strict";
import { test } from "node:test";
import { PRESENT, REMOVED } from "../../src/storage/storage.ts";
import { board, MAPPINGS, pin } from "../helpers/storageModel.ts";
import { edge, listOf, setEdges } from "../helpers/storing.ts";
import type { OpenStorage } from "./storage.ts";

const { placePin, commentPin } = MAPPINGS;

export function positionTests(open: OpenStorage): void {
	test("a transaction reads the present neighbors of an edge in the mapping's order", async () => {
		await using opened = await open();
		const { storage } = opened;
		const edges = [
			{ to: pin(1), sequence: 10 },
			{ to: pin(2), sequence: 20 },
			{ to: pin(3), sequence: 30, state: REMOVED },
			{ to: pin(4), sequence: 40 },
			{ to: pin(5), sequence: 40 },
		] as const;
		await setEdges(storage, placePin, board(1), edges);
		await setEdges(storage, commentPin, pin(1), edges);
		const neighbors = async (
			mapping: typeof placePin,
			from: (typeof edges)[0]["to"],
		) => {
			const { result } = await storage.transact({
				shard: 0,
				lists: [{ mapping, from }],
				neighbors: [1, 3, 4, 5, 6].map((local) => ({
					mapping,
					from,
					to: pin(local),
				})),
				decide: ({ neighbors }) => ({ result: neighbors }),
			});
			return result.map(({ edge, previous, next }) =>
				[previous, edge, next].map((one) => one?.to ?? null),
			);
		};
		assert.deepEqual(await neighbors(placePin, board(1)), [
			[pin(2), pin(1), null],
			[pin(4), pin(3), pin(2)],
			[pin(5), pin(4), pin(2)],
			[null, pin(5), pin(4)],
			[null, null, null],
		]);
		assert.deepEqual(await neighbors(commentPin, pin(1)), [
			[null, pin(1), pin(2)],
			[pin(2), pin(3), pin(4)],
			[pin(2), pin(4), pin(5)],
			[pin(4), pin(5), null],
			[null, null, null],
		]);
	});

	test("renumbering a list keeps its order, leaves gaps between all edges, and calls decide again", async () => {
		await using opened = await open();
		const { storage } = opened;
		await setEdges(storage, placePin, board(1), [
			{ to: pin(4), sequence: 5_000 },
			{ to: pin(3), sequence: 5_001, version: 7 },
			{ to: pin(2), sequence: 5_001 },
			{ to: pin(1), sequence: 90_000 },
			{ to: pin(9), sequence: 5_002, state: REMOVED },
		]);
		const before = await listOf(storage, placePin, board(1));
		let asked = 0;
		const { result } = await storage.transact<unknown>({
			shard: 0,
			lists: [{ mapping: placePin, from: board(1) }],
			edges: [{ mapping: placePin, from: board(1), to: pin(3) }],
			creates: [{ type: "Pin", data: {} }],
			decide: ({ lists: [list], edges: [at], created }) => {
				asked += 1;
				return list?.epoch === 0
					? {
							result: "dropped",
							renumber: { mapping: placePin, from: board(1) },
							outboxEntry: { dropped: true },
						}
					: { result: { list, at, created } };
			},
		});
		assert.equal(asked, 2);
		assert.deepEqual(result, {
			list: { from: board(1), count: 4, lastSequence: 90_000, epoch: 1 },
			at: edge(board(1), pin(3), 7_000, PRESENT, 7),
			created: [pin(1)],
		});
		const after = await listOf(storage, placePin, board(1));
		assert.deepEqual(after.tos, before.tos);
		assert.deepEqual(
			after.positions.map(({ sequence }) => sequence),
			[90_000, 7_000, 6_000, 5_000],
		);
		assert.deepEqual(
			await storage.pendingEntries({ olderThanMs: 0, limit: 10 }),
			[],
		);
		assert.deepEqual(await storage.readObjects([pin(1), pin(2)]), ["{}", null]);
	});

	test("renumbering leaves a gap before the first edge, and raises the last sequence with the last edge", async () => {
		await using opened = await open();
		const { storage } = opened;
		const edges = [0, 1, 2].map((n) => ({ to: pin(n + 1), sequence: n }));
		await setEdges(storage, placePin, board(1), edges);
		await storage.transact({
			shard: 0,
			lists: [{ mapping: placePin, from: board(1) }],
			decide: ({ lists: [list] }) =>
				list?.epoch === 0
					? { result: null, renumber: { mapping: placePin, from: board(1) } }
					: { result: null },
		});
		const { positions, lastSequence } = await listOf(
			storage,
			placePin,
			board(1),
		);
		assert.deepEqual(
			positions.map(({ sequence }) => sequence),
			[3_000, 2_000, 1_000],
		);
		assert.equal(lastSequence, 3_000);
	});

	test("a decide that requests renumbering again and again is stopped, and nothing is written", async () => {
		await using opened = await open();
		const { storage } = opened;
		await setEdges(storage, placePin, board(1), [{ to: pin(1), sequence: 1 }]);
		await assert.rejects(
			storage.transact({
				shard: 0,
				lists: [{ mapping: placePin, from: board(1) }],
				decide: () => ({
					result: null,
					renumber: { mapping: placePin, from: board(1) },
				}),
			}),
			/^TypeError: A transaction can renumber lists 2 times at most; this one renumbers placePin again\.$/,
		);
		const { epoch, positions } = await listOf(storage, placePin, board(1));
		assert.equal(epoch, 0);
		assert.deepEqual(positions, [{ sequence: 1, to: pin(1) }]);
	});
}
