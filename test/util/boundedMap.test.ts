import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { BoundedMap } from "../../src/util/boundedMap.ts";

describe("BoundedMap", () => {
	function openMap(maxWeight: number, order?: "use" | "age") {
		let now = 0;
		const map = new BoundedMap<string>({
			maxWeight,
			weigh: (value) => value.length,
			now: () => now,
			...(order && { order }),
		});
		return {
			map,
			pass(ms: number) {
				now += ms;
			},
		};
	}

	test("evicts the entry that was not read for the longest", () => {
		const { map } = openMap(3);
		map.set("a", "1");
		map.set("b", "1");
		map.set("c", "1");
		assert.equal(map.get("a"), "1");
		map.set("d", "1");
		assert.equal(map.get("b"), undefined);
		assert.equal(map.get("a"), "1");
		assert.equal(map.size, 3);
	});

	test("evicts the oldest entry, whatever was read since, in the order of age", () => {
		const { map } = openMap(3, "age");
		for (const key of ["a", "b", "c"]) map.set(key, "1");
		assert.equal(map.get("a"), "1");
		map.set("d", "1");
		assert.equal(map.get("a"), undefined);
		assert.equal(map.get("b"), "1");
	});

	test("holds its full weight again after it was cleared", () => {
		const { map } = openMap(2);
		map.set("a", "11");
		map.clear();
		map.set("b", "11");
		assert.deepEqual([map.get("a"), map.get("b")], [undefined, "11"]);
	});

	test("counts the weight of a replaced value once", () => {
		const { map } = openMap(4);
		map.set("a", "11");
		map.set("a", "111");
		map.set("b", "1");
		assert.equal(map.get("a"), "111");
		map.set("c", "11");
		assert.deepEqual([map.get("a"), map.get("c")], [undefined, "11"]);
	});

	test("does not keep a value heavier than the whole map", () => {
		const { map } = openMap(2);
		map.set("a", "1");
		map.set("b", "111");
		assert.deepEqual([map.get("a"), map.get("b")], ["1", undefined]);
	});

	test("drops an expired entry", () => {
		const { map, pass } = openMap(9);
		map.set("a", "1", 100);
		map.set("b", "1");
		pass(99);
		assert.equal(map.get("a"), "1");
		pass(1);
		assert.equal(map.get("a"), undefined);
		assert.equal(map.size, 1);
		assert.equal(map.get("b"), "1");
	});

	test("reports whether delete found the key", () => {
		const { map } = openMap(1);
		map.set("a", "1");
		assert.equal(map.delete("a"), true);
		assert.equal(map.delete("a"), false);
		map.set("b", "1");
		assert.equal(map.get("b"), "1");
	});
});
