import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createCursorCodec } from "../../src/id/cursorCodec.ts";
import { type Id, packId } from "../../src/id/ids.ts";

const cursors = createCursorCodec(Buffer.alloc(32, 7));
const list = "likePin 206158430209";
const place = {
	sequence: 1_764_000_000_000_000,
	to: packId({ shard: 3429, type: 1, local: 7075733 }),
	epoch: 3,
};

describe("cursors", () => {
	it("carry a place there and back", () => {
		fc.assert(
			fc.property(
				fc.maxSafeNat(),
				fc.bigInt(0n, 2n ** 62n - 1n),
				fc.integer({ min: 0, max: 2 ** 16 - 1 }),
				(sequence, to, epoch) => {
					const there = { sequence, to: String(to) as Id, epoch };
					assert.deepEqual(
						cursors.decode(list, cursors.encode(list, there)),
						there,
					);
				},
			),
		);
	});

	it("have one spelling for one place", () => {
		assert.equal(cursors.encode(list, place), cursors.encode(list, place));
	});

	it("are of no use on another list", () => {
		const cursor = cursors.encode(list, place);
		assert.equal(cursors.decode("likePin 206158430210", cursor), null);
		assert.equal(cursors.decode("followUser 206158430209", cursor), null);
	});

	it("are of no use under another secret", () => {
		const others = createCursorCodec(Buffer.alloc(32, 8));
		assert.equal(others.decode(list, cursors.encode(list, place)), null);
	});

	it("show nothing of what is in them: neighbours have nothing in common", () => {
		const [one, two] = [0, 1].map((step) =>
			Buffer.from(
				cursors.encode(list, { ...place, sequence: place.sequence + step }),
				"base64url",
			),
		) as [Buffer, Buffer];
		const same = one.filter((byte, at) => at > 0 && byte === two[at]).length;
		assert.ok(same < 8, `${same} of 29 bytes are the same`);
	});

	it("are refused when any one character is another", () => {
		const cursor = cursors.encode(list, place);
		for (let at = 0; at < cursor.length; at++) {
			const other = cursor[at] === "A" ? "B" : "A";
			const forged = cursor.slice(0, at) + other + cursor.slice(at + 1);
			assert.equal(cursors.decode(list, forged), null, `character ${at}`);
		}
	});

	it("are refused, not thrown at, whatever text comes", () => {
		fc.assert(
			fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
				assert.equal(cursors.decode(list, text), null);
			}),
		);
		assert.equal(cursors.decode(list, "A".repeat(40)), null);
	});
});
