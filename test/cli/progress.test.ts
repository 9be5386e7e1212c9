import assert from "node:assert/strict";
import { test } from "node:test";
import { formatCount, formatPace } from "../../src/cli/progress.ts";

test("the pace of an import tells the rate, and the time left where it is known", () => {
	assert.equal(
		formatPace({ lines: 30_000, perSecond: 2999.6 }),
		"30,000 lines, 3,000 a second",
	);
	assert.equal(
		formatPace({ lines: 30_000, perSecond: 1200, secondsLeft: 74.6 }),
		"30,000 lines, 1,200 a second, 1:15 left",
	);
});

test("counts are told in groups of three", () => {
	assert.equal(formatCount(116_372), "116,372");
	assert.equal(formatCount(7), "7");
});
