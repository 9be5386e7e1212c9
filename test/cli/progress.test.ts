import assert from "node:assert/strict";
import { test } from "node:test";
import { count, progressLine } from "../../src/cli/progress.ts";

test("a line of progress tells the rate, and the time left where the whole is known", () => {
	assert.equal(
		progressLine("lines", 30_000, undefined, 10),
		"30,000 lines, 3,000 a second",
	);
	assert.equal(
		progressLine("lines", 30_000, 0.25, 25),
		"30,000 lines, 1,200 a second, 25 %, 1:15 left",
	);
});

test("counts are told in groups of three", () => {
	assert.equal(count(116_372), "116,372");
	assert.equal(count(7), "7");
});
