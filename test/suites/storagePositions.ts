import assert from "node:assert/strict";
import { test } from "node:test";
import type { Id } from "../../src/id/ids.ts";
import {
	FIRST_EDGES,
	KEPT_RENUMBERINGS,
} from "../../src/storage/renumbering.ts";
import { type Position, PRESENT, REMOVED } from "../../src/storage/rows.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { OpenStorage } from "../helpers/storageModel.ts";
import { board, MAPPINGS, pin } from "../helpers/storageModel.ts";
import { edge, good, listOf, setEdges } from "../helpers/storing.ts";

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

	test("renumbering makes room below an edge, keeps the order, shifts no edge beyond a wide gap, and calls decide again", async () => {
		await using opened = await open();
		const { storage } = opened;
		await setEdges(storage, placePin, board(1), [
			{ to: pin(5), sequence: 4_999 },
			{ to: pin(2), sequence: 5_001 },
			{ to: pin(3), sequence: 5_001, version: 7 },
			{ to: pin(4), sequence: 5_002 },
			{ to: pin(1), sequence: 6_602 },
			{ to: pin(9), sequence: 5_001, state: REMOVED },
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
							renumber: [
								{
									mapping: placePin,
									from: board(1),
									at: { sequence: 5_001, to: pin(3) },
								},
							],
							outboxEntry: { dropped: true },
						}
					: { result: { list, at, created } };
			},
		});
		assert.equal(asked, 2);
		assert.deepEqual(result, {
			list: { from: board(1), count: 5, lastSequence: 6_602, epoch: 1 },
			at: edge(board(1), pin(3), 5_801, PRESENT, 7),
			created: [pin(1)],
		});
		const after = await listOf(storage, placePin, board(1));
		assert.deepEqual(after.tos, before.tos);
		assert.deepEqual(
			after.positions.map(({ sequence }) => sequence),
			[6_602, 5_802, 5_801, 5_001, 4_999],
		);
		const [removed] = await storage.read("edges", [
			{ mapping: placePin, from: board(1), to: pin(9) },
		]);
		assert.deepEqual(removed, edge(board(1), pin(9), 5_001, REMOVED));
		assert.deepEqual(await storage.read("renumberings", since(0)), [
			[
				{
					epoch: 1,
					low: { sequence: 5_001, to: pin(3) },
					high: { sequence: 5_002, to: pin(4) },
					by: 800,
				},
			],
		]);
		assert.deepEqual(
			await storage.pendingEntries({ olderThanMs: 0, limit: 10 }),
			[],
		);
		assert.deepEqual(await storage.read("objects", [pin(1), pin(2)]), [
			"{}",
			null,
		]);
	});

	test("renumbering up to the last edge raises the last sequence with it", async () => {
		await using opened = await open();
		const { storage } = opened;
		const edges = [0, 1, 2].map((n) => ({ to: pin(n + 1), sequence: n }));
		await setEdges(storage, placePin, board(1), edges);
		await renumber(storage, board(1), { sequence: 1, to: pin(2) });
		const { positions, lastSequence } = await listOf(
			storage,
			placePin,
			board(1),
		);
		assert.deepEqual(
			positions.map(({ sequence }) => sequence),
			[1_002, 1_001, 0],
		);
		assert.equal(lastSequence, 1_002);
	});

	test("renumbering finds the next wide gap of a long list without gaps before it", async () => {
		await using opened = await open();
		const { storage } = opened;
		const edges = Array.from({ length: FIRST_EDGES + 20 }, (_, n) => ({
			to: pin(n + 1),
			sequence: n < FIRST_EDGES + 10 ? n : 5_000 + n,
		}));
		await setEdges(storage, placePin, board(1), edges);
		await renumber(storage, board(1), { sequence: 1, to: pin(2) });
		const { positions } = await listOf(storage, placePin, board(1));
		assert.deepEqual(
			positions.toReversed(),
			edges.map(({ to, sequence }) => ({
				to,
				sequence:
					sequence > 0 && sequence < 5_000 ? sequence + 1_000 : sequence,
			})),
		);
	});

	test("a transaction makes room below many edges at once", async () => {
		await using opened = await open();
		const { storage } = opened;
		const edges = [1, 2, 3, 4, 5].map((n) => ({ to: pin(n), sequence: n }));
		await setEdges(storage, placePin, board(1), edges);
		const [, second, , fourth, fifth] = edges as [
			Position,
			Position,
			Position,
			Position,
			Position,
		];
		await renumber(storage, board(1), second, fifth, fourth, second);
		const { positions, epoch } = await listOf(storage, placePin, board(1));
		assert.deepEqual(
			positions.toReversed().map(({ sequence }) => sequence),
			[1, 1_002, 1_003, 1_504, 2_005],
		);
		assert.equal(epoch, 3);
	});

	test("renumberings are read per list from an epoch on, oldest first, and the newest thousand are kept", async () => {
		await using opened = await open();
		const { storage } = opened;
		for (const from of [board(1), board(2)]) {
			await setEdges(storage, placePin, from, [{ to: pin(1), sequence: 1 }]);
		}
		await renumber(storage, board(2), { sequence: 1, to: pin(1) });
		for (let epoch = 1; epoch <= KEPT_RENUMBERINGS + 2; epoch += 1) {
			const sequence = 1 + (epoch - 1) * 1_000;
			await renumber(storage, board(1), { sequence, to: pin(1) });
		}
		const { epoch, lastSequence } = await listOf(storage, placePin, board(1));
		assert.equal(epoch, KEPT_RENUMBERINGS + 2);
		assert.equal(lastSequence, 1 + epoch * 1_000);
		const [all, newest, none, other, absent] = (
			await storage.read("renumberings", [
				...since(0),
				...since(epoch - 2),
				...since(epoch),
				...since(0, board(2)),
				...since(0, board(3)),
			])
		).map((renumberings) => good(renumberings).map(({ epoch }) => epoch));
		assert.deepEqual(
			all,
			Array.from({ length: KEPT_RENUMBERINGS }, (_, n) => n + 3),
		);
		assert.deepEqual(newest, [epoch - 1, epoch]);
		assert.deepEqual([none, other, absent], [[], [1], []]);
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
					renumber: [
						{
							mapping: placePin,
							from: board(1),
							at: { sequence: 1, to: pin(1) },
						},
					],
				}),
			}),
			/^TypeError: A transaction can renumber lists 2 times at most; this one renumbers placePin again\.$/,
		);
		const { epoch, positions } = await listOf(storage, placePin, board(1));
		assert.equal(epoch, 0);
		assert.deepEqual(positions, [{ sequence: 1, to: pin(1) }]);
	});
}

const since = (since: number, from = board(1)) => [
	{ mapping: placePin, from, since },
];

/** Makes room below edges. */
async function renumber(
	storage: Storage,
	from: Id,
	...at: readonly Position[]
) {
	const list = { mapping: placePin, from };
	let done = false;
	await storage.transact({
		shard: 0,
		lists: [list],
		decide() {
			if (done) return { result: null };
			done = true;
			return { result: null, renumber: at.map((at) => ({ ...list, at })) };
		},
	});
}
