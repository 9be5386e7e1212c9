import assert from "node:assert/strict";
import { test } from "node:test";
import { PRESENT, type Transaction } from "../../src/storage/rows.ts";
import type { OpenStorage } from "../helpers/storageModel.ts";
import {
	board,
	comment,
	MAPPINGS,
	pin,
	user,
} from "../helpers/storageModel.ts";
import { create, listOf } from "../helpers/storing.ts";

const { likePin, placePin } = MAPPINGS;

export function refusalTests(open: OpenStorage): void {
	test("a transaction is committed completely or not at all", async () => {
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
				outboxEntry: { pending: true },
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
			/The sequence of placePin .* must be from 0 to 2\^53 - 1, got 0\.5\./,
		);
		assert.deepEqual(await storage.read("objects", [board(1), pin(1)]), [
			'{"name":"before"}',
			null,
		]);
		assert.equal((await listOf(storage, placePin, board(1))).count, 0);
		assert.deepEqual(
			await storage.pendingEntries({ olderThanMs: 0, limit: 10 }),
			[],
		);

		await storage.transact(write);
		assert.deepEqual(await storage.read("objects", [board(1)]), [
			'{"name":"after"}',
		]);
		assert.equal((await listOf(storage, placePin, board(1))).count, 1);
		assert.equal(
			(await storage.pendingEntries({ olderThanMs: 0, limit: 10 })).length,
			1,
		);
	});

	test("a transaction on a shard that does not answer or does not exist fails with the shard's number", async () => {
		await using opened = await open({ dead: [3] });
		const { storage } = opened;
		const decide = () => ({ result: null });
		await assert.rejects(storage.transact({ shard: 3, decide }), {
			code: "UNAVAILABLE",
			message: "Shard 3 does not answer at the moment.",
		});
		await assert.rejects(storage.transact({ shard: 4, decide }), {
			code: "NOT_FOUND",
			message: "No range of the topology covers shard 4.",
		});
	});

	test("an invalid transaction throws a programming error", async () => {
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
				/A transaction on shard 1 cannot use \d+, which is on shard 0\.$/,
			],
			[
				{ shard: 0, objects: [user(1, 2)], decide: nothing },
				/A transaction on shard 0 cannot use \d+, which is on shard 2\.$/,
			],
			[
				{ shard: 0, edges: [like], decide: nothing },
				/An edge of likePin \d+ can only be read if the list is locked\.$/,
			],
			[
				{ shard: 0, neighbors: [like], decide: nothing },
				/An edge of likePin \d+ can only be read if the list is locked\.$/,
			],
			[
				{ shard: 0, creates: [{ type: "Nothing", data: {} }], decide: nothing },
				/The model has no type Nothing\.$/,
			],
			[
				{
					shard: 0,
					lists,
					decide: () => ({ result: null, edges: [{ ...like, ...stands }] }),
				},
				/Edge likePin \d+ \d+ can only be written if it was read or leads to an object just created\.$/,
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
				/Edge likePin \d+ \d+ can only be written if it was read or leads to an object just created\.$/,
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
				/Edge likePin \d+ \d+ is written twice\.$/,
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
				/The version of likePin \d+ \d+ must be from 0 to 2\^53 - 1, got 9007199254740992\.$/,
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
				/Object \d+ can only be written if it was locked and found, or just created\.$/,
			],
			[
				{
					shard: 0,
					decide: () => ({
						result: null,
						objects: [{ id: board(1), data: {} }],
					}),
				},
				/Object \d+ can only be written if it was locked and found, or just created\.$/,
			],
			[
				{
					shard: 0,
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
				},
				/List placePin \d+ is not locked\.$/,
			],
			[
				{
					shard: 0,
					decide: () => ({
						result: null,
						recount: [{ mapping: placePin, from: board(1) }],
					}),
				},
				/List placePin \d+ is not locked\.$/,
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
