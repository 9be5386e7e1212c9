import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Id } from "../../src/id/ids.ts";
import { REMOVED } from "../../src/storage/rows.ts";
import type { OpenStorage } from "../helpers/storageModel.ts";
import { MAPPINGS, pin, user } from "../helpers/storageModel.ts";
import {
	batchesOf,
	collect,
	create,
	edge,
	setEdges,
} from "../helpers/storing.ts";

const { likePin, likedBy } = MAPPINGS;

/** More than two batches of any reasonable size. */
const MANY = 2_500;

export function walkTests(open: OpenStorage): void {
	test("a walk of objects returns each object of its type and shard once, ordered by id", async () => {
		await using opened = await open();
		const { storage } = opened;
		const data = Array.from({ length: MANY }, (_, n) => ({ n }));
		const ids = await create(storage, 1, "Pin", ...data);
		await create(storage, 1, "User", {});
		await create(storage, 2, "Pin", {});
		const batches = await batchesOf(storage.walk("objects", 1, "Pin"));
		assert.ok(batches.length > 1, "expected more than one batch");
		assert.deepEqual(
			batches.flat(),
			ids.map((id, n) => ({ id, data: `{"n":${n}}` })),
		);
	});

	test("a walk of edges returns every edge of the shard, also removed ones, ordered by from and to", async () => {
		await using opened = await open();
		const { storage } = opened;
		const tos = Array.from({ length: MANY }, (_, n) => pin(n + 1));
		await setEdges(
			storage,
			likePin,
			user(2),
			tos.map((to, n) => ({ to, sequence: MANY - n })),
		);
		await setEdges(storage, likePin, user(1), [
			{ to: pin(9), sequence: 5, state: REMOVED, version: 4 },
		]);
		await setEdges(storage, likePin, user(1, 1), [{ to: pin(9), sequence: 5 }]);
		assert.deepEqual(await collect(storage.walk("edges", 0, likePin)), [
			edge(user(1), pin(9), 5, REMOVED, 4),
			...tos.map((to, n) => edge(user(2), to, MANY - n)),
		]);
	});

	test("a walk of edges or lists goes on where another one ended", async () => {
		await using opened = await open();
		const { storage } = opened;
		for (const n of [1, 2, 3]) {
			await setEdges(storage, likePin, user(n), [
				{ to: pin(1), sequence: 5 },
				{ to: pin(2), sequence: 6 },
			]);
		}
		assert.deepEqual(
			await collect(
				storage.walk("edges", 0, likePin, { from: user(2), to: pin(1) }),
			),
			[
				edge(user(2), pin(2), 6),
				edge(user(3), pin(1), 5),
				edge(user(3), pin(2), 6),
			],
		);
		const lists = await collect(storage.walk("lists", 0, likePin, user(2)));
		assert.deepEqual(
			lists.map(({ from }) => from),
			[user(3)],
		);
	});

	test("a walk of lists returns each list of the mapping once", async () => {
		await using opened = await open();
		const { storage } = opened;
		await setEdges(storage, likePin, user(2), [{ to: pin(1), sequence: 5 }]);
		await setEdges(storage, likePin, user(1), [
			{ to: pin(1), sequence: 6 },
			{ to: pin(2), sequence: 7 },
		]);
		await setEdges(storage, likedBy, pin(1), [{ to: user(1), sequence: 6 }]);
		assert.deepEqual(await collect(storage.walk("lists", 0, likePin)), [
			{ from: user(1), count: 2, lastSequence: 7, epoch: 0 },
			{ from: user(2), count: 1, lastSequence: 5, epoch: 0 },
		]);
		assert.deepEqual(await collect(storage.walk("lists", 1, likePin)), []);
	});

	test("the longest lists of a mapping are those of each shard with the most present edges", async () => {
		await using opened = await open();
		const { storage } = opened;
		const likes = (from: Id, count: number) =>
			setEdges(
				storage,
				likePin,
				from,
				Array.from({ length: count }, (_, at) => ({
					to: pin(at + 1),
					sequence: at + 1,
				})),
			);
		await likes(user(1), 2);
		await likes(user(2), 3);
		await likes(user(3), 2);
		await likes(user(4), 1);
		await likes(user(5, 1), 9);
		// Emptied, of another mapping, and of another type with a higher count.
		await setEdges(storage, likePin, user(6), [
			{ to: pin(1), sequence: 1, state: REMOVED },
		]);
		await setEdges(storage, likedBy, pin(1), [
			{ to: user(1), sequence: 1 },
			{ to: user(2), sequence: 2 },
			{ to: user(3), sequence: 3 },
			{ to: user(4), sequence: 4 },
		]);
		const longest = [1, 0, 9_999].map((shard) => ({
			mapping: likePin,
			shard,
			limit: 3,
		}));
		assert.deepEqual(await storage.read("longestLists", longest), [
			[{ from: user(5, 1), count: 9 }],
			[
				{ from: user(2), count: 3 },
				{ from: user(1), count: 2 },
				{ from: user(3), count: 2 },
			],
			[],
		]);
	});

	test("a list's count comes with the number of its edges, also where its row is missing", async () => {
		await using opened = await open();
		const { storage } = opened;
		await setEdges(storage, likePin, user(2), [
			{ to: pin(1), sequence: 5 },
			{ to: pin(2), sequence: 9, state: REMOVED },
			{ to: pin(3), sequence: 7 },
		]);
		await setEdges(storage, likedBy, pin(1), [{ to: user(1), sequence: 6 }]);
		const nowhere = user(1, 9_999);
		assert.deepEqual(
			await storage.read("counts", [
				{ mapping: likePin, from: user(2) },
				{ mapping: likePin, from: user(7) },
				{ mapping: likedBy, from: pin(1) },
				{ mapping: likePin, from: nowhere },
			]),
			[
				{
					...counted(user(2), 2, 9),
					epoch: 0,
					newestEpoch: 0,
					edges: 2,
					highest: 7,
				},
				{
					...counted(user(7), 0, 0),
					epoch: 0,
					newestEpoch: 0,
					edges: 0,
					highest: 0,
				},
				{
					...counted(pin(1), 1, 6),
					epoch: 0,
					newestEpoch: 0,
					edges: 1,
					highest: 6,
				},
				{
					...counted(nowhere, 0, 0),
					epoch: 0,
					newestEpoch: 0,
					edges: 0,
					highest: 0,
				},
			],
		);
	});

	test("a list's count and its edges are counted at one moment beside a writer", async () => {
		await using opened = await open();
		const { storage } = opened;
		let isOver = false;
		const writer = (async () => {
			for (let n = 1; !isOver; n++) {
				await setEdges(storage, likePin, user(1), [
					{ to: pin(n), sequence: n },
				]);
				await nextTurn();
			}
		})();
		for (let n = 0; n < 50; n++) {
			const [list] = await storage.read("counts", [
				{ mapping: likePin, from: user(1) },
			]);
			assert.ok(list && !(list instanceof Error));
			assert.equal(list.count, list.edges);
			await nextTurn();
		}
		isOver = true;
		await writer;
	});

	test("a walk of lookups returns each row of the mod shard once", async () => {
		await using opened = await open();
		const { storage } = opened;
		const keys = Array.from({ length: MANY }, (_, n) => `user${n}`);
		await storage.compareAndSetLookups(
			keys.map((key, n) => ({
				name: "username",
				key,
				expect: null,
				next: { id: user(n + 1), token: "n" },
			})),
		);
		const rows = [];
		for (const shard of [0, 1, 2, 3]) {
			const some = await collect(storage.walk("lookups", shard));
			assert.ok(some.length > 500, "expected an even share on each shard");
			rows.push(...some);
		}
		assert.deepEqual(
			rows.map(({ key, id }) => [key, id]).sort(),
			keys.map((key, n) => [key, user(n + 1)]).sort(),
		);
	});

	test("a walk of one lookup returns its rows alone", async () => {
		await using opened = await open();
		const { storage } = opened;
		const keys = Array.from({ length: MANY }, (_, n) => `key${n}`);
		const rowsOf = (name: string) =>
			keys.map((key, n) => ({
				name,
				key,
				expect: null,
				next: { id: user(n + 1), token: name },
			}));
		for (const name of ["before", "between", "later"]) {
			await storage.compareAndSetLookups(rowsOf(name));
		}
		const rows = [];
		for (const shard of [0, 1, 2, 3]) {
			rows.push(...(await collect(storage.walk("lookups", shard, "between"))));
		}
		assert.deepEqual(
			rows.map(({ name, key, token }) => [name, key, token]).sort(),
			keys.map((key) => ["between", key, "between"]).sort(),
		);
	});

	test("a walk returns an edge once even if it moves in its list during the walk", async () => {
		await using opened = await open();
		const { storage } = opened;
		const edges = Array.from({ length: MANY }, (_, n) => ({
			to: pin(n + 1),
			sequence: n + 1,
		}));
		await setEdges(storage, likePin, user(1), edges);
		const met: string[] = [];
		for await (const batch of storage.walk("edges", 0, likePin)) {
			met.push(...batch.map(({ to }) => to));
			await setEdges(
				storage,
				likePin,
				user(1),
				edges.map(({ to, sequence }) => ({ to, sequence: sequence + MANY })),
			);
		}
		assert.equal(met.length, MANY);
		assert.equal(new Set(met).size, MANY);
	});

	test("a walk of a shard that does not answer or does not exist fails", async () => {
		await using opened = await open({ dead: [1] });
		const { storage } = opened;
		await assert.rejects(collect(storage.walk("objects", 1, "Pin")), {
			code: "UNAVAILABLE",
		});
		assert.throws(() => storage.walk("edges", 4, likePin), {
			code: "NOT_FOUND",
			message: "No range of the topology covers shard 4.",
		});
		assert.throws(() => storage.walk("objects", 0, "Nothing"), {
			name: "TypeError",
			message: "The model has no type Nothing.",
		});
	});
}

function counted(from: Id, count: number, lastSequence: number) {
	return { from, count, lastSequence };
}
