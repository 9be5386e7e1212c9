import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Id } from "../../src/id/ids.ts";
import {
	expiryOf,
	LEASE_MS,
	takeOverDatabaseLease,
} from "../../src/ops/databaseLease.ts";
import { readState } from "../../src/ops/lookups.ts";
import type { LookupKey } from "../../src/storage/rows.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { openEmbedded } from "../helpers/embedded.ts";
import { until } from "../helpers/until.ts";

const KEY = { name: "import state", key: "of a test" };

/** Null while another process holds the lease. */
async function tryDatabaseLease(storage: Storage, key: LookupKey) {
	const row = await readState(storage, key);
	if (row !== null && expiryOf(row) > Date.now()) return null;
	return takeOverDatabaseLease(storage, key, row);
}

describe("a database lease", () => {
	it("has one holder at a time, and is free again when it is released", async () => {
		await using graph = await openEmbedded();
		{
			await using first = await tryDatabaseLease(graph.storage, KEY);
			assert.ok(first);
			assert.equal(await tryDatabaseLease(graph.storage, KEY), null);
			assert.equal(await first.isHeld(), true);
		}
		assert.equal(await readState(graph.storage, KEY), null);
		await using second = await tryDatabaseLease(graph.storage, KEY);
		assert.ok(second);
	});

	it("is taken by one of many concurrent requests", async () => {
		await using graph = await openEmbedded();
		const taken = await Promise.all(
			Array.from({ length: 8 }, () => tryDatabaseLease(graph.storage, KEY)),
		);
		const held = taken.filter((lease) => lease !== null);
		assert.equal(held.length, 1);
		for (const lease of held) await lease[Symbol.asyncDispose]();
	});

	it("is renewed while its holder runs", async () => {
		await using graph = await openEmbedded();
		await using lease = await tryDatabaseLease(graph.storage, KEY);
		assert.ok(lease);
		const first = await readState(graph.storage, KEY);
		await until(
			"it to be renewed",
			async () => (await readState(graph.storage, KEY))?.token !== first?.token,
		);
		assert.equal(await lease.isHeld(), true);
	});

	it("is taken over from a holder that stopped renewing it, which then does not hold it", async (test) => {
		await using graph = await openEmbedded();
		await using lost = await tryDatabaseLease(graph.storage, KEY);
		assert.ok(lost);
		const now = Date.now();
		test.mock.method(Date, "now", () => now + LEASE_MS + 1);
		await using next = await tryDatabaseLease(graph.storage, KEY);
		assert.ok(next);
		assert.equal(await lost.isHeld(), false);
		assert.equal(await next.isHeld(), true);
		// Giving up what it lost takes nothing from the other.
		await lost[Symbol.asyncDispose]();
		assert.equal(await next.isHeld(), true);
	});

	it("leaves other rows alone", async () => {
		await using graph = await openEmbedded();
		const row = { id: "0" as Id, token: "another's" };
		await graph.storage.compareAndSetLookups([
			{ ...KEY, key: "another", expect: null, next: row },
		]);
		await using lease = await tryDatabaseLease(graph.storage, KEY);
		assert.ok(lease);
		const [other] = await graph.storage.read("lookups", [
			{ ...KEY, key: "another" },
		]);
		assert.deepEqual({ ...other }, { ...KEY, key: "another", ...row });
	});
});
