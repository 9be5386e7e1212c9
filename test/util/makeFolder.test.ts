import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { makeFolder } from "../../src/util/makeFolder.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

test("a folder is made with those above it, once, and not where there can be none", () => {
	using folder = temporaryFolder();
	const path = join(folder.path, "a/b/c");
	makeFolder(path);
	makeFolder(path);
	assert.ok(existsSync(path));
	writeFileSync(join(path, "file"), "");
	assert.throws(() => makeFolder(join(path, "file")), { code: "EEXIST" });
	assert.throws(() => makeFolder(join(path, "file/d")), { code: "ENOTDIR" });
	assert.throws(() => makeFolder("/proc/nowhere/a"), { code: "ENOENT" });
});
