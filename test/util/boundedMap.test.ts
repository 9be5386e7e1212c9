import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { BoundedMap } from "../../src/util/boundedMap.ts";
import { assertCpuWithin } from "../helpers/timing.ts";

describe("BoundedMap", () => {
	function openMap(maxWeight: number) {
		let now = 0;
		const map = new BoundedMap<string>({
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

	test("evicts in the order of use after any reads, writes and deletes", () => {
		fc.assert(
			fc.property(
				fc.array(
					fc.tuple(
						fc.constantFrom("get", "set", "delete", "clear"),
						fc.constantFrom(..."abcdefgh"),
						fc.integer({ min: 1, max: 5 }),
					),
					{ maxLength: 60 },
				),
				(steps) => {
					const { map } = openMap(9);
					// The last in use comes last.
					let model: [string, string][] = [];
					for (const [step, key, weight] of steps) {
						const kept = model.find(([name]) => name === key);
						const others = model.filter(([name]) => name !== key);
						if (step === "clear") {
							// Rarer than the other steps, or nothing would fill up.
							if (weight > 1) continue;
							map.clear();
							model = [];
						} else if (step === "get") {
							assert.equal(map.get(key), kept?.[1]);
							model = kept === undefined ? others : [...others, kept];
						} else if (step === "delete") {
							assert.equal(map.delete(key), kept !== undefined);
							model = others;
						} else {
							map.set(key, "1".repeat(weight));
							model = [...others, [key, "1".repeat(weight)]];
							while (model.map(([, value]) => value).join("").length > 9) {
								model.shift();
							}
						}
						assert.equal(map.size, model.length);
					}
					for (const [key, value] of model) assert.equal(map.get(key), value);
				},
			),
		);
	});

	test("evicts from 50,000 entries without looking for the one to evict", async () => {
		const size = 50_000;
		const keys = Array.from({ length: size }, (_, key) => `filled ${key}`);
		const map = new BoundedMap<number>({ maxWeight: size, weigh: () => 1 });
		const plain = new Map<string, { value: number }>();
		for (const key of keys) {
			map.set(key, 1);
			plain.set(key, { value: 1 });
		}
		const queue = [...keys];
		let next = 0;
		const added = (round: number) =>
			Array.from({ length: 20_000 }, (_, key) => `${round} ${key}`);
		await assertCpuWithin(
			3,
			(round) => {
				// The same inserts and deletes, of keys that are known.
				for (const key of added(round)) {
					plain.delete(queue[next++] as string);
					plain.set(key, { value: 1 });
					queue.push(key);
				}
			},
			(round) => {
				for (const key of added(round)) map.set(key, 1);
			},
		);
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
