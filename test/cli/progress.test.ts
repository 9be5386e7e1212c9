import assert from "node:assert/strict";
import { test } from "node:test";
import { formatPace } from "../../src/cli/progress.ts";

test("the progress of an import shows the rate, and the time left where it is known", () => {
	assert.equal(
		formatPace({ lines: 30_000, perSecond: 2999.6 }),
		"30,000 lines, 3,000 per second",
	);
	assert.equal(
		formatPace({ lines: 30_000, perSecond: 1200, secondsLeft: 74.6 }),
		"30,000 lines, 1,200 per second, 1:15 left",
	);
});
