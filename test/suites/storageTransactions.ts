import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { STORAGE_CHANNELS } from "../../src/storage/diagnostics.ts";
import {
	PRESENT,
	REMOVED,
	type TransactionReads,
} from "../../src/storage/rows.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import type { OpenStorage } from "../helpers/storageModel.ts";
import { board, MAPPINGS, pin, user } from "../helpers/storageModel.ts";
import { create, edge, listOf, setEdges, toggle } from "../helpers/storing.ts";

const { likePin, placePin } = MAPPINGS;

export function transactionTests(open: OpenStorage): void {
	test("decide gets each read in the order of the request", async () => {
		await using opened = await open();
		const { storage } = opened;
		await create(storage, 0, "Board", { name: "one" }, { name: "two" });
		await setEdges(storage, placePin, board(1), [
			{ to: pin(1), sequence: 10 },
			{ to: pin(2), sequence: 20, version: 3 },
		]);
		let seen: TransactionReads | undefined;
		const began = Date.now() * 1_000;
		const { result } = await storage.transact({
			shard: 0,
			lists: [
				{ mapping: placePin, from: board(2) },
				{ mapping: placePin, from: board(1) },
			],
			objects: [board(2), board(9), board(1)],
			edges: [
				{ mapping: placePin, from: board(1), to: pin(2) },
				{ mapping: placePin, from: board(2), to: pin(2) },
			],
			creates: [{ type: "Pin", data: {} }],
			decide: (given) => {
				seen = given;
				return { result: "done" };
			},
		});
		assert.equal(result, "done");
		assert.ok(seen !== undefined);
		const { now, ...rest } = seen;
		assert.deepEqual(rest, {
			lists: [
				{ from: board(2), count: 0, lastSequence: 0, epoch: 0 },
				{ from: board(1), count: 2, lastSequence: 20, epoch: 0 },
			],
			objects: [{ name: "two" }, null, { name: "one" }],
			edges: [edge(board(1), pin(2), 20, PRESENT, 3), null],
			neighbors: [],
			created: [pin(1)],
		});
		assert.ok(now >= began && now <= Date.now() * 1_000, `${now}`);
	});

	test("locked and newly created objects can get new content", async () => {
		await using opened = await open();
		const { storage } = opened;
		await create(storage, 0, "Board", { pins: 1 });
		await storage.transact({
			shard: 0,
			objects: [board(1)],
			creates: [{ type: "Pin", data: { self: null } }],
			decide: ({ objects: [was], created: [self] }) => ({
				result: null,
				objects: [
					{ id: board(1), data: { ...was, more: true } },
					{ id: self ?? pin(0), data: { self: self ?? null } },
				],
			}),
		});
		assert.deepEqual(await storage.read("objects", [board(1), pin(1)]), [
			'{"pins":1,"more":true}',
			`{"self":"${pin(1)}"}`,
		]);
	});

	test("an edge to a newly created object needs no read, and is counted", async () => {
		await using opened = await open();
		const { storage } = opened;
		await storage.transact({
			shard: 0,
			lists: [{ mapping: placePin, from: board(1) }],
			creates: [
				{ type: "Pin", data: {} },
				{ type: "Pin", data: {} },
			],
			decide: ({ created }) => ({
				result: null,
				edges: created.map((to, index) => ({
					mapping: placePin,
					from: board(1),
					to,
					sequence: 100 + index,
					state: PRESENT,
					version: 1,
				})),
			}),
		});
		assert.deepEqual(await listOf(storage, placePin, board(1)), {
			tos: [pin(2), pin(1)],
			positions: [
				{ sequence: 101, to: pin(2) },
				{ sequence: 100, to: pin(1) },
			],
			count: 2,
			lastSequence: 101,
			epoch: 0,
		});
	});

	test("the count follows each edge's old and new state, and the last sequence is the highest ever", async () => {
		await using opened = await open();
		const { storage } = opened;
		const set = async (sequence: number, state: 0 | 1) => {
			await setEdges(storage, likePin, user(1), [
				{ to: pin(1), sequence, state },
			]);
			const { count, lastSequence } = await listOf(storage, likePin, user(1));
			return [count, lastSequence];
		};
		assert.deepEqual(await set(5, REMOVED), [0, 5]);
		assert.deepEqual(await set(6, PRESENT), [1, 6]);
		assert.deepEqual(await set(7, PRESENT), [1, 7]);
		assert.deepEqual(await set(3, PRESENT), [1, 7]);
		assert.deepEqual(await set(2, REMOVED), [0, 7]);
		assert.deepEqual(await set(9, REMOVED), [0, 9]);
	});

	test("concurrent first likes of one pin are each counted once", async () => {
		await using opened = await open();
		const { storage } = opened;
		await Promise.all(
			Array.from({ length: 60 }, (_, n) =>
				toggle(storage, likePin, user(1), pin((n % 20) + 1), true),
			),
		);
		const { count, tos } = await listOf(storage, likePin, user(1));
		assert.equal(count, 20);
		assert.equal(new Set(tos).size, 20);
	});

	test("each count equals the number of present edges after any interleaving of changes", async () => {
		await using opened = await open();
		const { storage } = opened;
		let owner = 0;
		await fc.assert(
			fc.asyncProperty(
				fc.array(
					fc.record({
						list: fc.integer({ min: 1, max: 2 }),
						to: fc.integer({ min: 1, max: 4 }),
						present: fc.boolean(),
					}),
					{ maxLength: 20 },
				),
				fc.scheduler(),
				async (changes, scheduler) => {
					owner += 2;
					const owners = [1, 2].map((list) => user(owner + list));
					const write = scheduler.scheduleFunction(toggle);
					const all = Promise.all(
						changes.map(({ list, to, present }) =>
							write(
								storage,
								likePin,
								owners[list - 1] ?? user(1),
								pin(to),
								present,
							),
						),
					);
					await scheduler.waitFor(all);
					for (const from of owners) {
						const edges = await storage.read(
							"edges",
							[1, 2, 3, 4].map((to) => ({
								mapping: likePin,
								from,
								to: pin(to),
							})),
						);
						const present = edges.filter(
							(found) =>
								found !== null && "state" in found && found.state === PRESENT,
						);
						const { count, tos } = await listOf(storage, likePin, from);
						assert.equal(count, present.length);
						assert.equal(tos.length, present.length);
					}
				},
			),
			{ numRuns: 60 },
		);
	});

	test("purged edges are gone, the list and its other edges are as before, and one that is made again is new", async () => {
		await using opened = await open();
		const { storage } = opened;
		await setEdges(storage, likePin, user(1), [
			{ to: pin(1), sequence: 10 },
			{ to: pin(2), sequence: 20, state: REMOVED, version: 4 },
			{ to: pin(3), sequence: 20, state: REMOVED, version: 2 },
		]);
		const before = await listOf(storage, likePin, user(1));
		const lists = [{ mapping: likePin, from: user(1) }];
		const keys = [1, 2, 3].map((n) => ({
			mapping: likePin,
			from: user(1),
			to: pin(n),
		}));
		await storage.transact({
			shard: 0,
			lists,
			edges: keys,
			decide: () => ({ result: null, purge: keys.slice(1) }),
		});
		assert.deepEqual(await storage.read("edges", keys), [
			edge(user(1), pin(1), 10),
			null,
			null,
		]);
		assert.deepEqual(await listOf(storage, likePin, user(1)), before);
		await toggle(storage, likePin, user(1), pin(2), true);
		const [again] = await storage.read("edges", keys.slice(1));
		assert.ok(again !== null && again !== undefined && "version" in again);
		assert.equal(again.version, 1);
		assert.equal((await listOf(storage, likePin, user(1))).count, 2);
		for (const wrong of [keys[0], { ...keys[1], to: pin(9) }]) {
			await assert.rejects(
				storage.transact({
					shard: 0,
					lists,
					edges: keys,
					decide: () => ({ result: null, purge: [wrong as never] }),
				}),
				/can only be purged if it was read and is removed\.$/,
			);
		}
	});

	test("a transaction is one call with as many keys as it names", async () => {
		await using opened = await open();
		assert.deepEqual(
			await publishedDuring(STORAGE_CHANNELS.storage, () =>
				opened.storage.transact({
					shard: 0,
					lists: [{ mapping: likePin, from: user(1) }],
					edges: [1, 2].map((n) => ({
						mapping: likePin,
						from: user(1),
						to: pin(n),
					})),
					objects: [user(1)],
					creates: [{ type: "Pin", data: {} }],
					decide: () => ({ result: null }),
				}),
			),
			[{ verb: "transact", keys: 5 }],
		);
	});
}
