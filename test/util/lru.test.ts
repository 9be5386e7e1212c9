import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Lru } from "../../src/util/lru.ts";

describe("a bounded map", () => {
	function lru(maxWeight: number) {
		let now = 0;
		const map = new Lru<string>({
			maxWeight,
			weigh: (value) => value.length,
			now: () => now,
		});
		return {
			map,
			pass(ms: number) {
				now += ms;
			},
		};
	}

	test("lets go of what was not asked for the longest", () => {
		const { map } = lru(3);
		map.set("a", "1");
		map.set("b", "1");
		map.set("c", "1");
		assert.equal(map.get("a"), "1");
		map.set("d", "1");
		assert.equal(map.get("b"), undefined);
		assert.equal(map.get("a"), "1");
		assert.equal(map.size, 3);
	});

	test("counts weight, of what is replaced only once", () => {
		const { map } = lru(4);
		map.set("a", "11");
		map.set("a", "111");
		map.set("b", "1");
		assert.equal(map.get("a"), "111");
		map.set("c", "11");
		assert.deepEqual([map.get("a"), map.get("c")], [undefined, "11"]);
	});

	test("does not keep what is heavier than all of it", () => {
		const { map } = lru(2);
		map.set("a", "1");
		map.set("b", "111");
		assert.deepEqual([map.get("a"), map.get("b")], ["1", undefined]);
	});

	test("forgets what has come to its end", () => {
		const { map, pass } = lru(9);
		map.set("a", "1", 100);
		map.set("b", "1");
		pass(99);
		assert.equal(map.get("a"), "1");
		pass(1);
		assert.equal(map.get("a"), undefined);
		assert.equal(map.size, 1);
		assert.equal(map.get("b"), "1");
	});

	test("forgets what it is told to", () => {
		const { map } = lru(1);
		map.set("a", "1");
		assert.equal(map.delete("a"), true);
		assert.equal(map.delete("a"), false);
		map.set("b", "1");
		assert.equal(map.get("b"), "1");
	});
});
