import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CorkboardError } from "../../../src/errors.ts";
import { retryDelayMs } from "../../../src/graph/outbox/backoff.ts";

/** docs/reference/limits.md, "Load". */
describe("the pause after a failed delivery", () => {
	const longest = (error: unknown) =>
		[0, 1, 2, 3, 5, 6, 7, 1_000].map((attempts) =>
			retryDelayMs(attempts, error, () => 1),
		);

	it("doubles up to a minute, and up to four seconds where somebody else is at work on the rows", () => {
		assert.deepEqual(
			longest(new Error("no")),
			[1_000, 2_000, 4_000, 8_000, 32_000, 60_000, 60_000, 60_000],
		);
		assert.deepEqual(
			longest(new CorkboardError("UNAVAILABLE", "locked")),
			[1_000, 2_000, 4_000, 4_000, 4_000, 4_000, 4_000, 4_000],
		);
	});

	it("differs by up to a half between entries that failed together", () => {
		const [least, most] = [0, 1].map((random) =>
			retryDelayMs(4, new Error("no"), () => random),
		);
		assert.deepEqual([least, most], [8_000, 16_000]);
	});
});
