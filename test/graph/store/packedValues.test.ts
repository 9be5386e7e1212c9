import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CachedObject } from "../../../src/graph/store/cachedObject.ts";
import { Head } from "../../../src/graph/store/head.ts";
import { packJson, unpackJson } from "../../../src/graph/store/packedJson.ts";
import type { Id } from "../../../src/id/ids.ts";
import { joinId, splitId } from "../../../src/id/idWords.ts";
import type { JsonObject, JsonValue } from "../../../src/util/json.ts";
import { type Random, seededRandom } from "../../../src/util/random.ts";

const BLOCK = Buffer.alloc(256 * 1_024);

/** As it comes back from the middle of a block that had other bytes; null if it is not packed. */
function packed(data: JsonObject): JsonObject | null {
	const into = Buffer.alloc(128 * 1_024);
	const length = packJson(data, into);
	if (length < 0) return null;
	BLOCK.fill(0xee);
	into.copy(BLOCK, 77, 0, length);
	return unpackJson(BLOCK, 77, 77 + length);
}

const nested = (depth: number): JsonObject =>
	depth === 0 ? { id: "914862393786369" } : { a: nested(depth - 1), b: 1 };

describe("an object of JSON that is packed", () => {
	const values: Record<string, JsonValue> = {
		"null, true and false": [null, true, false],
		"a null": null,
		"an id": "914862393786369",
		"the greatest id": String(2n ** 62n - 1n),
		"a number of digits that is no id": String(2n ** 62n),
		"more digits": "9".repeat(40),
		"digits behind a zero": "0914862393786369",
		"a text without letters": "",
		"Latin-1 letters": "crème brûlée ÿ",
		"letters beyond": "доска ☕ 🍰 漢字",
		"what JSON escapes": '"\\\n\u0000\u2028/',
		"a long text": "é".repeat(20_000),
		"a time": "2026-11-30T04:05:06.789Z",
		"the first time": "1970-01-01T00:00:00.000Z",
		"the last time": "9999-12-31T23:59:59.999Z",
		"an earlier time": "1969-12-31T23:59:59.999Z",
		"a time that is none": "2026-02-30T04:05:06.789Z",
		"a time without milliseconds": "2026-11-30T04:05:06Z",
		"a small number": 127,
		"a number of two bytes": 128,
		"the greatest safe number": Number.MAX_SAFE_INTEGER,
		"a greater number": 2 ** 60,
		"a negative number": -1,
		"a fraction": 0.1,
		"the least number": Number.MIN_VALUE,
		"a negative zero": -0,
		"a number beyond all": Number.POSITIVE_INFINITY,
		"an object": { url: "https://example.com", width: 3, height: 0.5 },
		"an empty object": {},
		"objects in objects": nested(10),
		"a list": ["a", "914862393786369", [1.5, { b: null }], {}],
		"an empty list": [],
		"a name with a number": { "1": 1, "0": 0, b: 2 },
	};
	for (const [what, value] of Object.entries(values)) {
		it(`comes back with ${what}`, () => {
			for (const data of [
				{ value },
				{ before: "first", value, after: "last" },
				{ before: "漢", value, in: { value } },
			]) {
				assert.deepStrictEqual(packed(data), data);
			}
		});
	}

	it("is not packed if it could not come back", () => {
		const own = JSON.parse('{"__proto__":1,"a":[-0]}');
		for (const data of [
			{ a: "a\ud83c" },
			{ a: ["\ud83c, and letters beyond: 漢"], b: -0, c: [-0] },
			own,
			{ a: "a".repeat(132_000) },
		]) {
			assert.equal(packed(data), null);
		}
	});

	it("comes back with a name that would be a prototype", () => {
		const data: JsonObject = JSON.parse('{"__proto__":{"a":1},"b":"c"}');
		assert.deepStrictEqual(packed(data), data);
		assert.deepEqual(Object.keys(packed(data) ?? {}), ["__proto__", "b"]);
	});

	it("comes back with more values in objects than the length of a head can say", () => {
		const numbers = (count: number) =>
			Object.fromEntries(
				Array.from({ length: count }, (_, n) => [`n${n}`, n + 0.5]),
			);
		const objects = Array.from({ length: 15 }, (_, n) => [
			`o${n}`,
			numbers(250),
		]);
		const data = {
			...Object.fromEntries(objects),
			last: numbers(240),
			...numbers(230),
			text: "behind them",
		};
		assert.deepStrictEqual(packed(data), data);
	});

	it("is not packed if it is so deep that packing it would throw", () => {
		for (const depth of [100, 100_000]) {
			const list = JSON.parse("[".repeat(depth) + "]".repeat(depth));
			assert.equal(packed({ list }), null);
		}
	});

	it("takes a byte for each letter, eight for an id, and six for a time", () => {
		const data = {
			title: "A pin",
			board_id: "914862393786369",
			created_at: "2026-11-30T04:05:06.789Z",
		};
		const head = 2 + 2 + 1 + 8 + 6;
		const bytes = packJson(data, BLOCK);
		assert.ok(bytes <= head + 5, `${bytes} bytes`);
	});

	it("comes back whatever it is", () => {
		const random = seededRandom(45);
		for (let n = 0; n < 3_000; n++) {
			const data = someObject(random, 0);
			assert.deepStrictEqual(packed(data), data);
		}
	});

	it("comes back when there are more sets of fields than are noted", () => {
		for (let n = 0; n < 5_000; n++) {
			const data = { [`name ${n}`]: n, at: "2026-11-30T04:05:06.789Z" };
			assert.deepStrictEqual(packed(data), data);
		}
		assert.equal(packed({ "another name": [-0] }), null);
	});
});

function someObject(random: Random, depth: number): JsonObject {
	const count = random.integer(0, 6);
	return Object.fromEntries(
		Array.from({ length: count }, () => [
			random.pick(["a", "b", "id", "é", "漢", "", "a0", "10"]),
			someValue(random, depth),
		]),
	);
}

function someValue(random: Random, depth: number): JsonValue {
	switch (random.integer(0, depth > 3 ? 6 : 8)) {
		case 0:
			return random.pick([null, true, false]);
		case 1:
			return random.integer(-300, 300) / random.pick([1, 7]);
		case 2:
			return random.integer(0, Number.MAX_SAFE_INTEGER);
		case 3:
			return String(random.integer(0, Number.MAX_SAFE_INTEGER));
		case 4:
			return new Date(random.integer(0, 2e14)).toISOString();
		case 5:
		case 6:
			return random
				.pick(["", "a", "é", "漢", "🍰", '"', "\\", "\n"])
				.repeat(random.integer(0, 200));
		case 7:
			return Array.from({ length: random.integer(0, 3) }, () =>
				someValue(random, depth + 1),
			);
		default:
			return someObject(random, depth + 1);
	}
}

describe("an id", () => {
	it("is the same from its two halves", () => {
		const random = seededRandom(45);
		const words = new Uint32Array(2);
		assert.equal(splitId("0", words), true);
		assert.equal(joinId(0, 0), "0");
		for (let bits = 0n; bits < 62n; bits++) {
			for (let n = 0; n < 50; n++) {
				const low = BigInt(random.integer(0, 2 ** 32)) % (1n << bits);
				const id = String((1n << bits) + low);
				assert.equal(splitId(id, words), true, id);
				assert.equal(
					(BigInt(words[0] as number) << 32n) | BigInt(words[1] as number),
					BigInt(id),
				);
				assert.equal(joinId(words[0] as number, words[1] as number), id);
			}
		}
		for (const other of ["", "01", "1x", "-1", "1".repeat(20)]) {
			assert.equal(splitId(other, words), false, other);
		}
	});
});

describe("a head that is packed", () => {
	const shapes: Record<string, (edge: number, random: Random) => number[]> = {
		"of one shard and hour": (edge) => [7, 5_000 + edge, 1.795e15 - edge * 1e6],
		"of many shards and years": (_, random) => [
			random.integer(0, 65_535),
			random.integer(1, 2 ** 36 - 1),
			random.integer(-1e9, 2 ** 53 - 1),
		],
		"of which all are the same": () => [7, 5, 1],
	};
	for (const [what, edgeAt] of Object.entries(shapes)) {
		it(`has the same edges ${what}`, () => {
			const random = seededRandom(45);
			for (const length of [0, 1, 2, 4, 12, 32, 33, 2_048]) {
				const edges = Array.from({ length }, (_, edge) => {
					const [shard, local, sequence] = edgeAt(edge, random);
					const to = (BigInt(shard as number) << 46n) | BigInt(local as number);
					return { to: String(to) as Id, sequence: sequence as number };
				});
				const list = {
					from: "914862393786369" as Id,
					count: random.pick([length, 2 ** 48 - 1]),
					epoch: random.pick([0, 2 ** 32 - 1]),
					complete: random.chance(0.5),
				};
				const head = Head.of(list, edges);
				BLOCK.fill(0xee);
				const end = head.pack(BLOCK);
				const bytes = Buffer.alloc(end + 14, 0xee);
				BLOCK.copy(bytes, 7, 0, end);
				const unpacked = Head.unpacked(list.from, bytes, 7, 7 + end);
				assert.deepEqual(unpacked, head);
				assert.deepEqual(unpacked.slice(), edges);
				assert.deepEqual(
					Head.decoded(list.from, head.encoded())?.slice(),
					edges,
				);
				for (const { to } of edges) assert.ok(head.has(to));
				assert.ok(!head.has("70368744177665" as Id));
			}
		});
	}

	it("takes few letters for each edge where they are alike", () => {
		const edges = Array.from({ length: 25 }, (_, edge) => ({
			to: String(914862393786369 + edge) as Id,
			sequence: 1_795_233_161_169_500 - edge,
		}));
		const list = { from: "1" as Id, count: 25, epoch: 0, complete: true };
		assert.ok(Head.of(list, edges).pack(BLOCK) < 25 * 5);
	});

	it("is not packed with a count or an epoch that is too large, or negative", () => {
		const list = { from: "1" as Id, count: 0, epoch: 0, complete: true };
		for (const damaged of [
			{ count: 2 ** 48 },
			{ count: -1 },
			{ epoch: 2 ** 32 },
			{ epoch: -1 },
		]) {
			assert.equal(Head.of({ ...list, ...damaged }, []).pack(BLOCK), -1);
		}
	});
});

describe("a cached object that is packed", () => {
	it("is the same", () => {
		const id = "914862393786369" as Id;
		const text = JSON.stringify({ details: "a", board_id: id });
		const node = { id, type: "Pin", data: JSON.parse(text) };
		const read = { node, facts: null };
		const end = CachedObject.stored(read, text).pack(BLOCK);
		assert.deepEqual(unpackJson(BLOCK, 0, end), JSON.parse(text));
		const unpacked = CachedObject.unpacked(read, end);
		assert.equal(unpacked.pack(BLOCK), end);
		assert.equal(CachedObject.absent().pack(BLOCK), -1);
	});
});
