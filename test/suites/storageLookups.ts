import assert from "node:assert/strict";
import { test } from "node:test";
import { STORAGE_CHANNELS } from "../../src/storage/diagnostics.ts";
import type { LookupChange } from "../../src/storage/rows.ts";
import type { Statement } from "../../src/trace.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import type { OpenStorage } from "../helpers/storageModel.ts";
import { user } from "../helpers/storageModel.ts";
import { codes } from "../helpers/storing.ts";

/** The key at index n is on mod shard n: md5 modulo 4. */
const ON_SHARD = ["max", "tom", "ann", "amy"] as const;

const ANN = { id: user(1), token: "n1" };
const BEA = { id: user(2, 3), token: "n2" };

export function lookupTests(open: OpenStorage): void {
	test("a free key is null and a reserved key returns its row, in the order of the keys", async () => {
		await using opened = await open();
		const { storage } = opened;
		assert.deepEqual(
			await storage.compareAndSetLookups([
				claim("ann", ANN),
				claim("bea", BEA),
			]),
			[row("ann", ANN), row("bea", BEA)],
		);
		assert.deepEqual(
			await storage.read("lookups", [
				{ name: "username", key: "bea" },
				{ name: "email", key: "bea" },
				{ name: "username", key: "nobody" },
				{ name: "username", key: "ann" },
				{ name: "username", key: "bea" },
			]),
			[row("bea", BEA), null, null, row("ann", ANN), row("bea", BEA)],
		);
	});

	test("keys are compared exactly: case, every character and the lookup's name count", async () => {
		await using opened = await open();
		const { storage } = opened;
		const keys = ["ann", "Ann", "änn", "ann ", "a'nn", "🌍", "ann\u0000", ""];
		const rows = keys.map((key, index) => ({
			id: user(index + 1),
			token: key,
		}));
		await storage.compareAndSetLookups(
			keys.map((key, index) => claim(key, rows[index] ?? ANN)),
		);
		assert.deepEqual(
			await storage.read(
				"lookups",
				keys.map((key) => ({ name: "username", key })),
			),
			keys.map((key, index) => row(key, rows[index] ?? ANN)),
		);
	});

	test("a taken key keeps its row, and the loser gets that row", async () => {
		await using opened = await open();
		const { storage } = opened;
		await storage.compareAndSetLookups([claim("ann", ANN)]);
		assert.deepEqual(await storage.compareAndSetLookups([claim("ann", BEA)]), [
			row("ann", ANN),
		]);
		// A repeated reservation gets its own row.
		assert.deepEqual(await storage.compareAndSetLookups([claim("ann", ANN)]), [
			row("ann", ANN),
		]);
	});

	test("the first of two reservations of one key in one call wins", async () => {
		await using opened = await open();
		assert.deepEqual(
			await opened.storage.compareAndSetLookups([
				claim("ann", ANN),
				claim("ann", BEA),
			]),
			[row("ann", ANN), row("ann", ANN)],
		);
	});

	test("a row is replaced only if it has the expected id and token", async () => {
		await using opened = await open();
		const { storage } = opened;
		await storage.compareAndSetLookups([claim("ann", ANN)]);
		const change = (expect: typeof ANN) =>
			storage.compareAndSetLookups([{ ...claim("ann", BEA), expect }]);
		assert.deepEqual(await change({ ...ANN, token: "other" }), [
			row("ann", ANN),
		]);
		assert.deepEqual(await change({ ...ANN, id: user(9) }), [row("ann", ANN)]);
		assert.deepEqual(await change(ANN), [row("ann", BEA)]);
	});

	test("a row is released only by its own id and token, so that a second reservation by the same object survives", async () => {
		await using opened = await open();
		const { storage } = opened;
		const again = { id: ANN.id, token: "n1 again" };
		await storage.compareAndSetLookups([claim("ann", again)]);
		const release = (expect: typeof ANN) =>
			storage.compareAndSetLookups([
				{ name: "username", key: "ann", expect, next: null },
			]);
		assert.deepEqual(await release(ANN), [row("ann", again)]);
		assert.deepEqual(await release(again), [null]);
		assert.deepEqual(await release(again), [null]);
		assert.deepEqual(await storage.compareAndSetLookups([claim("ann", BEA)]), [
			row("ann", BEA),
		]);
	});

	test("a mod shard that does not answer makes only its own keys UNAVAILABLE", async () => {
		await using opened = await open({ dead: [2] });
		const { storage } = opened;
		const changes = ON_SHARD.map((key) => claim(key, ANN));
		const expected = [
			row("max", ANN),
			row("tom", ANN),
			"UNAVAILABLE",
			row("amy", ANN),
		];
		assert.deepEqual(
			codes(await storage.compareAndSetLookups(changes)),
			expected,
		);
		assert.deepEqual(codes(await storage.read("lookups", changes)), expected);
	});

	test("many keys are read by one call", async () => {
		await using opened = await open();
		const keys = Array.from({ length: 60 }, (_, index) => ({
			name: "username",
			key: `user${index}`,
		}));
		assert.deepEqual(
			await publishedDuring(STORAGE_CHANNELS.storage, () =>
				opened.storage.read("lookups", keys),
			),
			[{ verb: "readLookups", keys: 60 }],
		);
		const statements = await publishedDuring<Statement>(
			STORAGE_CHANNELS.statement,
			() => opened.storage.read("lookups", keys),
		);
		// In SQLite each mod shard is a host; elsewhere all are on one host.
		const hosts = new Set(statements.map(({ host }) => host));
		assert.equal(statements.length, hosts.size);
		assert.ok(hosts.size === 1 || hosts.size === 4);
	});
}

function claim(key: string, next: typeof ANN): LookupChange {
	return { name: "username", key, expect: null, next };
}

function row(key: string, { id, token }: typeof ANN) {
	return { name: "username", key, id, token };
}
