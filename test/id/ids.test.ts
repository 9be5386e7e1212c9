// Runs in a process of its own: it measures the heap.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
	type Id,
	MAX_LOCAL,
	MAX_SHARD,
	MAX_TYPE,
	packId,
	parseId,
	parseStoredId,
	unpackId,
} from "../../src/id/ids.ts";
import { heldBytes } from "../helpers/heldBytes.ts";

describe("ids", () => {
	// The article "Sharding Pinterest" decomposes the first; the other two are
	// in its example of a stored pin.
	for (const [id, parts] of [
		["241294492511762325", { shard: 3429, type: 1, local: 7075733 }],
		["241294629943640797", { shard: 3429, type: 3, local: 733 }],
		["241294561224164665", { shard: 3429, type: 2, local: 1337 }],
	] as const) {
		it(`unpack and pack ${id} of "Sharding Pinterest" as the article does`, () => {
			assert.deepEqual(unpackId(id as string as Id), parts);
			assert.equal(packId(parts), id);
		});
	}

	it("unpack to the packed shard, type and local id", () => {
		fc.assert(
			fc.property(
				fc.integer({ min: 0, max: MAX_SHARD }),
				fc.integer({ min: 0, max: MAX_TYPE }),
				fc.oneof(
					fc.integer({ min: 0, max: MAX_LOCAL }),
					fc.constantFrom(0, 2 ** 31 - 1, 2 ** 31, 2 ** 32, MAX_LOCAL),
				),
				(shard, type, local) => {
					const id = packId({ shard, type, local });
					assert.deepEqual(unpackId(id), { shard, type, local });
					assert.equal(parseId(id), id);
				},
			),
		);
	});

	it("have a maximum of 2^62 - 1; larger numbers are reserved or malformed", () => {
		const last = packId({ shard: MAX_SHARD, type: MAX_TYPE, local: MAX_LOCAL });
		assert.equal(last, String(2n ** 62n - 1n));
		assert.equal(parseId(String(2n ** 62n)), "reserved");
		assert.equal(parseId(String(2n ** 64n - 1n)), "reserved");
		assert.equal(parseId(String(2n ** 64n)), "malformed");
	});

	it("reject a part that does not fit its bits", () => {
		for (const parts of [
			{ shard: MAX_SHARD + 1, type: 1, local: 1 },
			{ shard: 1, type: MAX_TYPE + 1, local: 1 },
			{ shard: 1, type: 1, local: MAX_LOCAL + 1 },
			{ shard: -1, type: 1, local: 1 },
			{ shard: 1, type: 1.5, local: 1 },
			{ shard: Number.NaN, type: 1, local: 1 },
		]) {
			assert.throws(() => packId(parts), RangeError);
		}
	});

	it("are parsed from canonical decimals only", () => {
		for (const text of [
			"",
			"00",
			"01",
			"+1",
			"-1",
			" 1",
			"1 ",
			"1.0",
			"1e3",
			"0x10",
			"1_000",
			"١",
			"12\n",
			"NaN",
			"9".repeat(400),
		]) {
			assert.equal(parseId(text), "malformed", JSON.stringify(text));
		}
		assert.equal(parseId("0"), "0");
	});

	it("are not unpacked from a text with anything but digits", () => {
		for (const text of [
			"1 OR 1=1",
			"1)",
			"1e3",
			"-1",
			"0x10",
			"٣",
			"12345678901;",
		])
			assert.throws(() => unpackId(text as Id), /^TypeError: An id must be/);
	});

	it("throw for a malformed stored id", () => {
		assert.throws(() => parseStoredId("12x"), /stored id 12x is invalid/);
	});

	it("that are parsed do not keep the text they are a part of", () => {
		const bytes = heldBytes(200, (at) => {
			const text = `${"x".repeat(10_000)}${914862393786369n + BigInt(at)}`;
			return parseId(Buffer.from(text).toString().slice(10_000));
		});
		assert.ok(bytes < 2_000, `${bytes} bytes`);
	});
});
