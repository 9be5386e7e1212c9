import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CHANNELS } from "../../src/diagnostics.ts";
import {
	PRESENT,
	REMOVED,
	type Seen,
	type Transaction,
} from "../../src/storage/port.ts";
import { heard } from "../helpers/heard.ts";
import {
	board,
	comment,
	MAPPINGS,
	pin,
	user,
} from "../helpers/storageModel.ts";
import { create, edge, listOf, setEdges, toggle } from "../helpers/storing.ts";
import type { OpenStorage } from "./storage.ts";

const { likePin, placePin, commentPin } = MAPPINGS;

export function transactionTests(open: OpenStorage): void {
	test("decide sees what it asked for, each in the order asked", async () => {
		await using opened = await open();
		const { storage } = opened;
		await create(storage, 0, "Board", { name: "one" }, { name: "two" });
		await setEdges(storage, placePin, board(1), [
			{ to: pin(1), sequence: 10 },
			{ to: pin(2), sequence: 20, version: 3 },
		]);
		let seen: Seen | undefined;
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
			around: [],
			created: [pin(1)],
		});
		assert.ok(now >= began && now <= Date.now() * 1_000, `${now}`);
	});

	test("objects that were locked, or just created, get new content", async () => {
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
		assert.deepEqual(await storage.objects([board(1), pin(1)]), [
			'{"pins":1,"more":true}',
			`{"self":"${pin(1)}"}`,
		]);
	});

	test("an edge to an object just created needs no reading, and counts", async () => {
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

	test("the count follows what the edge was and becomes; the last sequence is the highest ever", async () => {
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

	test("many first likes of one pin at once are counted once each", async () => {
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

	test("whatever changes of edges interleave, each count is the number of present edges", async () => {
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
						const edges = await storage.edges(
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

	test("around tells the present neighbours in the mapping's order", async () => {
		await using opened = await open();
		const { storage } = opened;
		const edges = [
			{ to: pin(1), sequence: 10 },
			{ to: pin(2), sequence: 20 },
			{ to: pin(3), sequence: 30, state: REMOVED },
			{ to: pin(4), sequence: 40 },
			{ to: pin(5), sequence: 40 },
		];
		await setEdges(storage, placePin, board(1), edges);
		await setEdges(storage, commentPin, pin(1), edges);
		const neighbours = async (
			mapping: typeof placePin,
			from: (typeof edges)[0]["to"],
		) => {
			const { result } = await storage.transact({
				shard: 0,
				lists: [{ mapping, from }],
				around: [1, 3, 4, 5, 6].map((local) => ({
					mapping,
					from,
					to: pin(local),
				})),
				decide: ({ around }) => ({ result: around }),
			});
			return result.map(({ edge, previous, next }) =>
				[previous, edge, next].map((one) => one?.to ?? null),
			);
		};
		assert.deepEqual(await neighbours(placePin, board(1)), [
			[pin(2), pin(1), null],
			[pin(4), pin(3), pin(2)],
			[pin(5), pin(4), pin(2)],
			[null, pin(5), pin(4)],
			[null, null, null],
		]);
		assert.deepEqual(await neighbours(commentPin, pin(1)), [
			[null, pin(1), pin(2)],
			[pin(2), pin(3), pin(4)],
			[pin(2), pin(4), pin(5)],
			[pin(4), pin(5), null],
			[null, null, null],
		]);
	});

	test("a list is renumbered with its order kept and room between all, and decide is asked again", async () => {
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
		const { result } = await storage.transact({
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
							debt: { dropped: true },
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
		assert.deepEqual(await storage.owed(0, 10), []);
		assert.deepEqual(await storage.objects([pin(1), pin(2)]), ["{}", null]);
	});

	test("renumbering leaves room before the first edge, and raises the last sequence with the last edge", async () => {
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

	test("a decide that asks for renumbering for ever is stopped, and nothing is written", async () => {
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
			/^TypeError: expected at most 2 renumberings in a transaction but got: another of placePin$/,
		);
		const { epoch, positions } = await listOf(storage, placePin, board(1));
		assert.equal(epoch, 0);
		assert.deepEqual(positions, [{ sequence: 1, to: pin(1) }]);
	});

	test("a list asked to be recounted is brought in line with its edges", async () => {
		await using opened = await open();
		const { storage } = opened;
		await setEdges(storage, likePin, user(1), [
			{ to: pin(1), sequence: 1 },
			{ to: pin(2), sequence: 2 },
			{ to: pin(3), sequence: 3, state: REMOVED },
		]);
		await storage.transact({
			shard: 0,
			lists: [{ mapping: likePin, from: user(1) }],
			decide: () => ({
				result: null,
				recount: [{ mapping: likePin, from: user(1) }],
			}),
		});
		const { count, lastSequence, epoch } = await listOf(
			storage,
			likePin,
			user(1),
		);
		assert.deepEqual([count, lastSequence, epoch], [2, 3, 0]);
	});

	test("all of a transaction is there afterwards, or none of it", async () => {
		await using opened = await open();
		const { storage } = opened;
		await create(storage, 0, "Board", { name: "before" });
		const write: Transaction<null> = {
			shard: 0,
			lists: [{ mapping: placePin, from: board(1) }],
			objects: [board(1)],
			creates: [{ type: "Pin", data: {} }],
			decide: ({ created: [to = pin(0)] }) => ({
				result: null,
				objects: [{ id: board(1), data: { name: "after" } }],
				edges: [
					{
						mapping: placePin,
						from: board(1),
						to,
						sequence: 5,
						state: PRESENT,
						version: 1,
					},
				],
				debt: { owed: true },
			}),
		};
		await assert.rejects(
			storage.transact({
				...write,
				decide: (seen) => {
					write.decide(seen);
					throw new RangeError("the mutation changed its mind");
				},
			}),
			/^RangeError: the mutation changed its mind$/,
		);
		await assert.rejects(
			storage.transact({
				...write,
				decide: (seen) => {
					const effects = write.decide(seen);
					return {
						...effects,
						edges:
							effects.edges?.map((one) => ({ ...one, sequence: 0.5 })) ?? [],
					};
				},
			}),
			/expected a sequence from 0 to 2\^53 - 1 for placePin .* but got: 0.5/,
		);
		assert.deepEqual(await storage.objects([board(1), pin(1)]), [
			'{"name":"before"}',
			null,
		]);
		assert.equal((await listOf(storage, placePin, board(1))).count, 0);
		assert.deepEqual(await storage.owed(0, 10), []);

		await storage.transact(write);
		assert.deepEqual(await storage.objects([board(1)]), ['{"name":"after"}']);
		assert.equal((await listOf(storage, placePin, board(1))).count, 1);
		assert.equal((await storage.owed(0, 10)).length, 1);
	});

	test("a transaction is one call, of as many keys as it names", async () => {
		await using opened = await open();
		assert.deepEqual(
			await heard(CHANNELS.storage, () =>
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

	test("a transaction on a shard that does not answer, or is not there, says which", async () => {
		await using opened = await open({ dead: [3] });
		const { storage } = opened;
		const decide = () => ({ result: null });
		await assert.rejects(storage.transact({ shard: 3, decide }), {
			code: "UNAVAILABLE",
			message: "Shard 3 does not answer at the moment.",
		});
		await assert.rejects(storage.transact({ shard: 4, decide }), {
			code: "NOT_FOUND",
			message: "There is no shard 4: no range of the topology covers it.",
		});
	});

	test("what a transaction may not do is refused as a mistake in the code", async () => {
		await using opened = await open();
		const { storage } = opened;
		await create(storage, 0, "Board", {});
		const lists = [{ mapping: likePin, from: user(1) }];
		const like = { mapping: likePin, from: user(1), to: pin(1) };
		const stands = { sequence: 1, state: PRESENT, version: 1 } as const;
		const nothing = () => ({ result: null });
		const refused: readonly (readonly [Transaction<null>, RegExp])[] = [
			[
				{ shard: 1, lists, decide: nothing },
				/expected only keys of shard 1 but got: \d+ of shard 0$/,
			],
			[
				{ shard: 0, objects: [user(1, 2)], decide: nothing },
				/expected only keys of shard 0 but got: \d+ of shard 2$/,
			],
			[
				{ shard: 0, edges: [like], decide: nothing },
				/expected only edges of the lists that are locked but got: one of likePin \d+$/,
			],
			[
				{ shard: 0, around: [like], decide: nothing },
				/expected only edges of the lists that are locked but got: one of likePin \d+$/,
			],
			[
				{ shard: 0, creates: [{ type: "Nothing", data: {} }], decide: nothing },
				/expected a type of the model but got: Nothing$/,
			],
			[
				{
					shard: 0,
					lists,
					decide: () => ({ result: null, edges: [{ ...like, ...stands }] }),
				},
				/expected only edges that were read or lead to an object just created but got: likePin \d+ \d+$/,
			],
			[
				{
					shard: 0,
					creates: [{ type: "Pin", data: {} }],
					decide: ({ created: [to = pin(0)] }) => ({
						result: null,
						edges: [{ ...like, ...stands, to }],
					}),
				},
				/expected only edges that were read or lead to an object just created but got: likePin \d+ \d+$/,
			],
			[
				{
					shard: 0,
					lists,
					edges: [like],
					decide: () => ({
						result: null,
						edges: [
							{ ...like, ...stands },
							{ ...like, ...stands },
						],
					}),
				},
				/expected each edge once but got twice: likePin \d+ \d+$/,
			],
			[
				{
					shard: 0,
					lists,
					edges: [like],
					decide: () => ({
						result: null,
						edges: [{ ...like, ...stands, version: 2 ** 53 }],
					}),
				},
				/expected a version from 0 to 2\^53 - 1 for likePin \d+ \d+ but got: 9007199254740992$/,
			],
			[
				{
					shard: 0,
					objects: [board(2)],
					decide: () => ({
						result: null,
						objects: [{ id: board(2), data: {} }],
					}),
				},
				/expected only objects that were locked and found, or just created, but got: \d+$/,
			],
			[
				{
					shard: 0,
					decide: () => ({
						result: null,
						objects: [{ id: board(1), data: {} }],
					}),
				},
				/expected only objects that were locked and found, or just created, but got: \d+$/,
			],
			[
				{
					shard: 0,
					decide: () => ({
						result: null,
						renumber: { mapping: placePin, from: board(1) },
					}),
				},
				/expected one of the lists that are locked but got: placePin \d+$/,
			],
			[
				{
					shard: 0,
					decide: () => ({
						result: null,
						recount: [{ mapping: placePin, from: board(1) }],
					}),
				},
				/expected one of the lists that are locked but got: placePin \d+$/,
			],
		];
		for (const [transaction, message] of refused) {
			await assert.rejects(storage.transact(transaction), {
				name: "TypeError",
				message,
			});
		}
		assert.deepEqual(await create(storage, 0, "Comment", {}), [comment(1)]);
	});
}
