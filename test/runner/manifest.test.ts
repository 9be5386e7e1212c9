import assert from "node:assert/strict";
import { test } from "node:test";
import { manifestFaults } from "./manifest.ts";

const manifest = { minimum: 10, files: ["test/a.test.ts", "test/b.test.ts"] };

test("a run of every listed file and enough tests has no faults", () => {
	assert.deepEqual(manifestFaults(manifest, manifest.files, 10), []);
});

test("a listed file that is missing, one that is not listed, and too few tests are told at once", () => {
	assert.deepEqual(
		manifestFaults(manifest, ["test/a.test.ts", "test/c.test.ts"], 9),
		[
			"test/b.test.ts is in test/manifest.json but missing",
			'test/c.test.ts is not in test/manifest.json: add it to "files" there, and its tests to "minimum" (npm test -- --accept does both)',
			"expected at least 10 tests (test/manifest.json) but got: 9",
		],
	);
});
