import assert from "node:assert/strict";
import { test } from "node:test";
import { judge, longestGap, median, slowest } from "./evidence.ts";

const acknowledged = [
	{ id: "1", title: "a", at: 10, ms: 5 },
	{ id: "2", title: "b", at: 100, ms: 90 },
	{ id: "3", title: "c", at: 130, ms: 7 },
];

test("what is missing or another's is lost, and an id that came twice is named", () => {
	const found = new Map([
		["1", "a"],
		["2", "b"],
		["3", "c"],
	]);
	assert.deepEqual(judge(acknowledged, found), { lost: [], repeated: [] });
	found.delete("1");
	found.set("3", "of another write");
	assert.deepEqual(judge(acknowledged, found).lost, ["1", "3"]);
	const twice = [...acknowledged, { id: "2", title: "d", at: 140, ms: 1 }];
	assert.deepEqual(judge(twice, found), {
		lost: ["1", "3", "2"],
		repeated: ["2"],
	});
});

test("a pause is the longest time without an acknowledged write around a promotion", () => {
	assert.equal(longestGap(acknowledged, 0, 200), 90);
	assert.equal(longestGap(acknowledged, 50, 60), 90);
	assert.equal(longestGap(acknowledged, 105, 200), 30);
	assert.equal(longestGap([], 0, 200), 0);
	assert.equal(slowest(acknowledged, 0, 200), 90);
	assert.equal(slowest(acknowledged, 110, 200), 7);
	assert.equal(median([3, 1, 2]), 2);
	assert.equal(median([]), 0);
});
