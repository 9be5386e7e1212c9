import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Id } from "../../src/id/ids.ts";
import type { Mapping } from "../../src/model/types.ts";
import { STORAGE_CHANNELS } from "../../src/storage/diagnostics.ts";
import {
	type Position,
	PRESENT,
	REMOVED,
	type Scan,
} from "../../src/storage/rows.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Statement } from "../../src/trace.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import type { OpenStorage } from "../helpers/storageModel.ts";
import {
	board,
	comment,
	MAPPINGS,
	pin,
	user,
} from "../helpers/storageModel.ts";
import { codes, edge, good, listOf, setEdges } from "../helpers/storing.ts";

const { likePin, placePin, commentPin } = MAPPINGS;

export function scanTests(open: OpenStorage): void {
	test("a list starts with the newest edge, or with the oldest if the mapping is ascending", async () => {
		await using opened = await open();
		const { storage } = opened;
		const sequences = [5, 9, 7];
		await setEdges(
			storage,
			likePin,
			user(1),
			sequences.map((sequence) => ({ to: pin(sequence), sequence })),
		);
		await setEdges(
			storage,
			placePin,
			board(1),
			sequences.map((sequence) => ({ to: pin(sequence), sequence })),
		);
		await setEdges(
			storage,
			commentPin,
			pin(1),
			sequences.map((sequence) => ({ to: comment(sequence), sequence })),
		);
		assert.deepEqual(
			[
				(await listOf(storage, likePin, user(1))).tos,
				(await listOf(storage, placePin, board(1))).tos,
				(await listOf(storage, commentPin, pin(1))).tos,
			],
			[
				[pin(9), pin(7), pin(5)],
				[pin(9), pin(7), pin(5)],
				[comment(5), comment(7), comment(9)],
			],
		);
	});

	test("a scan returns complete edges and the list's row", async () => {
		await using opened = await open();
		const { storage } = opened;
		const sequence = 2 ** 53 - 1;
		const to = pin(2 ** 36 - 1, 65_535);
		await setEdges(storage, likePin, user(7, 3), [
			{ to, sequence, version: 12 },
		]);
		assert.deepEqual(
			await storage.read("lists", [
				{ mapping: likePin, from: user(7, 3), backward: false, limit: 1 },
			]),
			[
				{
					edges: [edge(user(7, 3), to, sequence, PRESENT, 12)],
					list: {
						from: user(7, 3),
						count: 1,
						lastSequence: sequence,
						epoch: 0,
					},
				},
			],
		);
	});

	test("edges with equal sequences are ordered by target, and a bound between them is exact", async () => {
		await using opened = await open();
		const { storage } = opened;
		const tied = [1, 2, 3].map((local) => ({ to: pin(local), sequence: 8 }));
		await setEdges(storage, likePin, user(1), tied);
		const after = { sequence: 8, to: pin(2) };
		const base = { mapping: likePin, from: user(1), limit: 9 };
		assert.deepEqual(
			await tosOf(storage, [
				{ ...base, backward: false },
				{ ...base, backward: true },
				{ ...base, backward: false, after },
				{ ...base, backward: true, before: after },
			]),
			[[pin(3), pin(2), pin(1)], [pin(1), pin(2), pin(3)], [pin(1)], [pin(3)]],
		);
	});

	test("a position stays valid after its edge is removed", async () => {
		await using opened = await open();
		const { storage } = opened;
		await setEdges(storage, likePin, user(1), [
			{ to: pin(1), sequence: 1 },
			{ to: pin(2), sequence: 2, state: REMOVED },
			{ to: pin(3), sequence: 3 },
		]);
		const at = { sequence: 2, to: pin(2) };
		const base = { mapping: likePin, from: user(1), limit: 9, backward: false };
		assert.deepEqual(
			await tosOf(storage, [
				{ ...base, after: at },
				{ ...base, before: at },
			]),
			[[pin(1)], [pin(3)]],
		);
	});

	test("a scan omits removed edges, and a limit of 0 returns only the list's row", async () => {
		await using opened = await open();
		const { storage } = opened;
		await setEdges(storage, likePin, user(1), [
			{ to: pin(1), sequence: 1 },
			{ to: pin(2), sequence: 2, state: REMOVED },
		]);
		const base = { mapping: likePin, from: user(1), backward: false };
		const answers = await storage.read("lists", [
			{ ...base, limit: 9 },
			{ ...base, limit: 0 },
		]);
		assert.deepEqual(
			answers.map((answer) => good(answer).edges.map(({ to }) => to)),
			[[pin(1)], []],
		);
		assert.deepEqual(
			answers.map((answer) => good(answer).list.count),
			[1, 1],
		);
	});

	test("a list without writes, and one on an unknown shard, have no edges and a row of zeros", async () => {
		await using opened = await open();
		const { storage } = opened;
		const scans = [user(9), user(9, 77)].map((from) => ({
			mapping: likePin,
			from,
			backward: false,
			limit: 5,
		}));
		assert.deepEqual(
			await storage.read("lists", scans),
			[user(9), user(9, 77)].map((from) => ({
				edges: [],
				list: { from, count: 0, lastSequence: 0, epoch: 0 },
			})),
		);
	});

	test("readEdges returns single edges, also removed ones, and null for one that never existed", async () => {
		await using opened = await open();
		const { storage } = opened;
		await setEdges(storage, likePin, user(1), [
			{ to: pin(1), sequence: 3 },
			{ to: pin(2), sequence: 4, state: REMOVED, version: 2 },
		]);
		await setEdges(storage, placePin, board(1, 2), [
			{ to: pin(1), sequence: 6 },
		]);
		assert.deepEqual(
			await storage.read("edges", [
				{ mapping: placePin, from: board(1, 2), to: pin(1) },
				{ mapping: likePin, from: user(1), to: pin(3) },
				{ mapping: likePin, from: user(1), to: pin(2) },
				{ mapping: likePin, from: user(1), to: pin(1) },
				{ mapping: likePin, from: user(1, 99), to: pin(1) },
			]),
			[
				edge(board(1, 2), pin(1), 6),
				null,
				edge(user(1), pin(2), 4, REMOVED, 2),
				edge(user(1), pin(1), 3),
				null,
			],
		);
	});

	test("a shard that does not answer makes only its own lists UNAVAILABLE", async () => {
		await using opened = await open({ dead: [2] });
		const { storage } = opened;
		await setEdges(storage, likePin, user(1), [{ to: pin(1), sequence: 3 }]);
		const base = { mapping: likePin, backward: false, limit: 5 };
		const [bad, fine] = await storage.read("lists", [
			{ ...base, from: user(1, 2) },
			{ ...base, from: user(1) },
		]);
		assert.deepEqual(codes([bad ?? null]), ["UNAVAILABLE"]);
		assert.deepEqual(good(fine).edges, [edge(user(1), pin(1), 3)]);
		assert.deepEqual(
			codes(
				await storage.read("edges", [
					{ mapping: likePin, from: user(1, 2), to: pin(1) },
					{ mapping: likePin, from: user(1), to: pin(1) },
				]),
			),
			["UNAVAILABLE", edge(user(1), pin(1), 3)],
		);
	});

	test("the scans of one mapping take one call with one statement per host", async () => {
		await using opened = await open();
		const { storage } = opened;
		const froms = [0, 1].flatMap((shard) =>
			Array.from({ length: 40 }, (_, index) => user(index + 1, shard)),
		);
		for (const from of froms) {
			await setEdges(storage, likePin, from, [{ to: pin(5), sequence: 3 }]);
		}
		let statements: readonly Statement[] = [];
		const calls = await publishedDuring(STORAGE_CHANNELS.storage, async () => {
			statements = await publishedDuring<Statement>(
				STORAGE_CHANNELS.statement,
				() =>
					storage.read(
						"lists",
						froms.map((from) => ({
							mapping: likePin,
							from,
							backward: false,
							limit: 5,
						})),
					),
			);
		});
		assert.deepEqual(calls, [{ verb: "scanLists", keys: 80 }]);
		const hosts = Map.groupBy([0, 1], (shard) => storage.map.hostOf(shard));
		assert.deepEqual(
			statements.map(({ name, shard, rows }) => ({ name, shard, rows })),
			[...hosts.values()].map(([shard, ...more]) => ({
				name: "scan likePin",
				shard,
				rows: 40 * (1 + more.length),
			})),
		);
	});

	test("an invalid limit or position is rejected with its value in the message", async () => {
		await using opened = await open();
		const { storage } = opened;
		const scan = { mapping: likePin, from: user(1), backward: false };
		await assert.rejects(storage.read("lists", [{ ...scan, limit: -1 }]), {
			name: "TypeError",
			message: "The limit of a scan must be an integer of at least 0, got -1.",
		});
		const after = { sequence: Number.NaN, to: pin(1) };
		await assert.rejects(
			storage.read("lists", [{ ...scan, limit: 1, after }]),
			{
				name: "TypeError",
				message: "The sequence of a position must be an integer, got NaN.",
			},
		);
		const mapping = { ...likePin, name: "no such" };
		await assert.rejects(
			storage.read("lists", [{ ...scan, limit: 1, mapping }]),
			{
				name: "TypeError",
				message: "The model has no mapping no such.",
			},
		);
	});

	test("every page between any bounds, in either direction, is a slice of the ordered list", async () => {
		await using opened = await open();
		const { storage } = opened;
		// Few sequences and few targets, so that ties and bounds on edges are common.
		const sequence = fc.integer({ min: 0, max: 6 });
		const position = fc.record({
			sequence,
			to: fc.integer({ min: 1, max: 30 }).map((local) => pin(local)),
		});
		const bound = fc.option(position, { nil: null });
		let lists = 0;
		await fc.assert(
			fc.asyncProperty(
				fc.constantFrom(likePin, commentPin),
				fc.uniqueArray(position, { selector: ({ to }) => to, maxLength: 25 }),
				fc.array(
					fc.record({
						after: bound,
						before: bound,
						backward: fc.boolean(),
						limit: fc.integer({ min: 0, max: 30 }),
					}),
					{ minLength: 1, maxLength: 8 },
				),
				async (mapping, positions, pages) => {
					lists += 1;
					const from = user(lists, lists % 4);
					await setEdges(storage, mapping, from, positions);
					const scans = pages.map(({ after, before, ...page }) => ({
						mapping,
						from,
						...page,
						...(after === null ? {} : { after }),
						...(before === null ? {} : { before }),
					}));
					assert.deepEqual(
						await tosOf(storage, scans),
						scans.map((scan) => slice(mapping, positions, scan)),
					);
				},
			),
			{ numRuns: 150 },
		);
	});
}

/** The reference result: a sorted array, sliced. */
function slice(
	mapping: Mapping,
	positions: readonly Position[],
	{ after, before, backward, limit }: Scan,
): readonly Id[] {
	const sign = mapping.order === "OLDEST_FIRST" ? 1 : -1;
	const compare = (a: Position, b: Position) =>
		sign * (a.sequence - b.sequence || Number(BigInt(a.to) - BigInt(b.to)));
	const between = positions
		.toSorted(compare)
		.filter((at) => after === undefined || compare(at, after) > 0)
		.filter((at) => before === undefined || compare(at, before) < 0);
	return (backward ? between.reverse() : between)
		.slice(0, limit)
		.map(({ to }) => to);
}

async function tosOf(
	storage: Storage,
	scans: readonly Scan[],
): Promise<readonly (readonly Id[])[]> {
	const answers = await storage.read("lists", scans);
	return answers.map((answer) => good(answer).edges.map(({ to }) => to));
}
