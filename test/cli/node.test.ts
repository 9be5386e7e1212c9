import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const SCRIPT = join(import.meta.dirname, "../../src/cli/node.sh");

test("npm scripts run on the Node that came with the packages, whatever npm made of its link", () => {
	using folder = temporaryFolder();
	// An older one stands first on the PATH, as npm 9 leaves it.
	const old = join(folder.path, "node");
	writeFileSync(old, "#!/bin/sh\necho v18.0.0\n");
	chmodSync(old, 0o755);
	const out = execFileSync("sh", [SCRIPT, "-p", "process.version"], {
		env: { PATH: `${folder.path}${delimiter}/usr/bin${delimiter}/bin` },
		encoding: "utf8",
	});
	assert.match(out, /^v(2[4-9]|[3-9]\d)\./);
});
