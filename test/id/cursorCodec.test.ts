import assert from "node:assert/strict";
import { createHmac, createSecretKey } from "node:crypto";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createCursorCodec } from "../../src/id/cursorCodec.ts";
import { type Id, packId } from "../../src/id/ids.ts";
import { assertCpuWithin } from "../helpers/timing.ts";

const cursors = createCursorCodec(Buffer.alloc(32, 7));
const list = "likePin 206158430209";
const place = {
	sequence: 1_764_000_000_000_000,
	to: packId({ shard: 3429, type: 1, local: 7075733 }),
	epoch: 3,
};

describe("cursors", () => {
	it("decode to the encoded position", () => {
		fc.assert(
			fc.property(
				fc.maxSafeNat(),
				fc.bigInt(0n, 2n ** 62n - 1n),
				fc.integer({ min: 0, max: 2 ** 40 - 1 }),
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

	it("of a page are those of its positions, also when other lists are in turn", () => {
		const long = `${"é€𝄞".repeat(100)} 1`;
		for (const name of [list, "likePin 1", long, list]) {
			for (const count of [1, 2, 3, 4, 25]) {
				const positions = Array.from({ length: count }, (_, epoch) => ({
					...place,
					epoch,
				}));
				const alone = createCursorCodec(Buffer.alloc(32, 7));
				const expected = positions.map((position) =>
					alone.encode(name, position),
				);
				assert.deepEqual(cursors.encodeAll(name, positions), expected);
			}
		}
		assert.deepEqual(cursors.encodeAll(list, []), []);
	});

	it("are not made of what is no id, and the next ones are right", () => {
		const expected = cursors.encode(list, place);
		for (const to of ["4611686018427387904", "007", ""] as Id[]) {
			assert.throws(() => cursors.encode(list, { ...place, to }), TypeError);
			assert.equal(cursors.encode(list, place), expected);
		}
	});

	it("equal positions have equal cursors", () => {
		assert.equal(cursors.encode(list, place), cursors.encode(list, place));
	});

	it("keep their bytes, so that clients may hold them across versions", () => {
		assert.equal(
			cursors.encode(list, place),
			"A4VAbnZI5sMMYqY_9csYW0-Akf6JMkctF40lL9yC2hdh",
		);
	});

	it("are encoded with the CPU time of a few MACs with a key that is kept", async () => {
		const key = createSecretKey(Buffer.alloc(32, 7));
		const text = Buffer.alloc(50, 1);
		await assertCpuWithin(
			6,
			() => {
				for (let time = 0; time < 500; time++) {
					createHmac("sha256", key).update(text).digest();
				}
			},
			() => {
				for (let epoch = 0; epoch < 500; epoch++) {
					cursors.encode(list, { ...place, epoch });
				}
			},
		);
	});

	it("decode to null on another list", () => {
		const cursor = cursors.encode(list, place);
		assert.equal(cursors.decode("likePin 206158430210", cursor), null);
		assert.equal(cursors.decode("followUser 206158430209", cursor), null);
	});

	it("decode to null with another secret", () => {
		const others = createCursorCodec(Buffer.alloc(32, 8));
		assert.equal(others.decode(list, cursors.encode(list, place)), null);
	});

	it("are encoded by the first of several secrets, and decoded by any", () => {
		const [former, current] = [7, 8].map((byte) => Buffer.alloc(32, byte)) as [
			Buffer,
			Buffer,
		];
		const both = createCursorCodec(current, former);
		assert.deepEqual(both.decode(list, cursors.encode(list, place)), place);
		const encoded = both.encode(list, place);
		assert.equal(encoded, createCursorCodec(current).encode(list, place));
		assert.deepEqual(both.decode(list, encoded), place);
		assert.equal(both.decode("likePin 206158430210", encoded), null);
	});

	it("do not reveal their content: cursors of adjacent positions share few bytes", () => {
		const [one, two] = [0, 1].map((step) =>
			Buffer.from(
				cursors.encode(list, { ...place, sequence: place.sequence + step }),
				"base64url",
			),
		) as [Buffer, Buffer];
		const same = one.filter((byte, at) => at > 0 && byte === two[at]).length;
		assert.ok(same < 8, `${same} of 32 bytes are the same`);
	});

	it("decode to null if any single character is changed", () => {
		const cursor = cursors.encode(list, place);
		for (let at = 0; at < cursor.length; at++) {
			const other = cursor[at] === "A" ? "B" : "A";
			const forged = cursor.slice(0, at) + other + cursor.slice(at + 1);
			assert.equal(cursors.decode(list, forged), null, `character ${at}`);
		}
	});

	it("decode any invalid text to null", () => {
		fc.assert(
			fc.property(fc.oneof(fc.string(), fc.base64String()), (text) => {
				assert.equal(cursors.decode(list, text), null);
			}),
		);
		assert.equal(cursors.decode(list, "A".repeat(44)), null);
	});
});
