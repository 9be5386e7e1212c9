import assert from "node:assert/strict";
import { rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { makeRunFolder } from "./runFolder.ts";

type Machine = Exclude<Parameters<typeof makeRunFolder>[0], undefined>;

/** The folder in which a run's folder is made. */
function parentOn(machine: Machine): string {
	const folder = makeRunFolder({ environment: {}, ...machine });
	rmdirSync(folder);
	return dirname(folder);
}

test("a run's files are in memory where there is room, and not where TMPDIR is set", () => {
	using memory = temporaryFolder();
	const roomy = { memory: memory.path, needed: 1_000, available: 2_000 };
	assert.equal(parentOn(roomy), memory.path);
	for (const machine of [
		{ available: 1_999 },
		{ needed: Number.MAX_SAFE_INTEGER, available: Number.POSITIVE_INFINITY },
		{ memory: `${memory.path}/none` },
		{ environment: { TMPDIR: tmpdir() } },
	]) {
		assert.equal(parentOn({ ...roomy, ...machine }), tmpdir());
	}
});
