import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { WALL_CLOCK } from "./wallClock.ts";

const ROOT = join(import.meta.dirname, "../..");

test("at most ten files are judged by the clock, and all of them are there", () => {
	const files = Object.keys(WALL_CLOCK);
	assert.ok(files.length <= 10, `${files.length} files`);
	for (const file of files) assert.ok(existsSync(join(ROOT, file)), file);
});
