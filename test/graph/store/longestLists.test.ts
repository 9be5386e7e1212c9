import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CorkboardError } from "../../../src/errors.ts";
import { LongestLists } from "../../../src/graph/store/longestLists.ts";
import { type Id, packId } from "../../../src/id/ids.ts";
import type { KeyResult, ListLength } from "../../../src/storage/rows.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { theModel } from "../../helpers/model.ts";

const mapping = theModel().model.mappings.get("followInterest.inverse");
const MINUTE = 60_000;

const of = (shard: number, local: number, count: number): ListLength => ({
	from: packId({ shard, type: 5, local }) as Id,
	count,
});
const down = () => new CorkboardError("UNAVAILABLE", "The host is down.");

/** Shards whose longest lists the test says, and a clock. */
function setting(shards: KeyResult<readonly ListLength[]>[]) {
	const at = { shards, reads: 0, now: 0 };
	const storage = {
		map: { shards: shards.map((_, shard) => shard) },
		async read() {
			at.reads++;
			return at.shards;
		},
	} as unknown as Storage;
	const lists = new LongestLists(storage, () => at.now);
	assert.ok(mapping);
	return { at, longest: async () => lists.read(mapping) };
}

describe("the longest lists", () => {
	it("are those of all shards, the longest first, and the lower id of equals", async () => {
		const { longest } = setting([
			[of(0, 1, 7), of(0, 2, 3)],
			[of(1, 1, 9), of(1, 2, 3)],
		]);
		assert.deepEqual(await longest(), [
			of(1, 1, 9),
			of(0, 1, 7),
			of(0, 2, 3),
			of(1, 2, 3),
		]);
	});

	it("are read once by many requests, and again, beside them, after some minutes", async () => {
		const { at, longest } = setting([[of(0, 1, 1)]]);
		await Promise.all([longest(), longest(), longest()]);
		at.now = 4 * MINUTE;
		await longest();
		assert.equal(at.reads, 1);
		at.shards = [[of(0, 2, 2)]];
		at.now = 6 * MINUTE;
		assert.deepEqual(await longest(), [of(0, 1, 1)]);
		assert.equal(at.reads, 2);
		await new Promise((resolve) => setImmediate(resolve));
		assert.deepEqual(await longest(), [of(0, 2, 2)]);
		assert.equal(at.reads, 2);
	});

	it("leave out a host that does not answer, and are read again soon", async () => {
		const { at, longest } = setting([[of(0, 1, 1)], down()]);
		assert.deepEqual(await longest(), [of(0, 1, 1)]);
		at.shards = [[of(0, 1, 1)], [of(1, 1, 2)]];
		at.now = MINUTE;
		await longest();
		await new Promise((resolve) => setImmediate(resolve));
		assert.deepEqual(await longest(), [of(1, 1, 2), of(0, 1, 1)]);
		// From then on what is known of a host stays while it is down.
		at.shards = [[of(0, 1, 5)], down()];
		at.now = 7 * MINUTE;
		await longest();
		await new Promise((resolve) => setImmediate(resolve));
		assert.deepEqual(await longest(), [of(1, 1, 2), of(0, 1, 1)]);
	});

	it("are UNAVAILABLE while no host has answered", async () => {
		const { at, longest } = setting([down(), down()]);
		await assert.rejects(longest(), { code: "UNAVAILABLE" });
		at.shards = [[of(0, 1, 1)], down()];
		assert.deepEqual(await longest(), [of(0, 1, 1)]);
	});
});
