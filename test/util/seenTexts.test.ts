import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SeenTexts } from "../../src/util/seenTexts.ts";

describe("texts that came", () => {
	it("are known until they are forgotten, or another takes their place", () => {
		const seen = new SeenTexts(1);
		assert.equal(seen.has("a"), false);
		assert.equal(seen.add("a"), false);
		assert.equal(seen.add("a"), true);
		seen.delete("b");
		assert.equal(seen.has("a"), true);
		seen.delete("a");
		assert.equal(seen.has("a"), false);
		seen.add("a");
		assert.equal(seen.add("b"), false);
		assert.deepEqual(
			["a", "b"].map((text) => seen.has(text)),
			[false, true],
		);
	});
});
