import assert from "node:assert/strict";
import { test } from "node:test";
import { manifestFaults } from "./manifest.ts";

const manifest = {
	minimum: 10,
	files: ["test/a.test.ts", "test/b.test.ts"],
	slowest: [],
};

test("a run of every listed file and enough tests has no problems", () => {
	assert.deepEqual(manifestFaults(manifest, manifest.files, 10), []);
});

test("a listed file that is missing, one that is not listed, and too few tests are reported together", () => {
	assert.deepEqual(
		manifestFaults(manifest, ["test/a.test.ts", "test/c.test.ts"], 9),
		[
			"test/b.test.ts is in test/manifest.json but missing",
			'not in test/manifest.json, so add to its "files", and their tests to its "minimum" (npm test -- --accept does both): test/c.test.ts',
			"expected at least 10 tests (test/manifest.json) but got: 9",
		],
	);
});
