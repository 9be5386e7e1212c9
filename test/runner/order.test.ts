import assert from "node:assert/strict";
import { test } from "node:test";
import { slowestFirst, slowestOf } from "./order.ts";

test("the slowest files are those that took at least ten seconds, slowest first", () => {
	const seconds = new Map([
		["a", 9.9],
		["b", 10],
		["c", 60],
	]);
	assert.deepEqual(slowestOf(seconds), ["c", "b"]);
});

test("the slowest files start first, and all others after them in their own order", () => {
	assert.deepEqual(slowestFirst(["a", "b", "c", "d"], ["d", "gone", "b"]), [
		"d",
		"b",
		"a",
		"c",
	]);
});

test("a file that a merge has listed twice among the slowest starts once", () => {
	assert.deepEqual(slowestFirst(["a", "b"], ["b", "b"]), ["b", "a"]);
});
