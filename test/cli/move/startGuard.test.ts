import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startGuard } from "../../../src/cli/move/startGuard.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { until } from "../../helpers/until.ts";

test("a guard of a move that cannot start says why, and what its runner has to do", async () => {
	const said: string[] = [];
	using guard = startGuard(
		{
			// A process with an embedded folder has no fleet.
			env: { PATH: process.env.PATH, NODE_OPTIONS: process.env.NODE_OPTIONS },
			stderr: (line) => said.push(line),
		},
		"move-20261128-0000",
	);
	await until("it to say so", () => said.length >= 2);
	assert.ok(guard.pid);
	assert.match(said.join("\n"), /^guard: ./m);
	assert.match(
		said.join("\n"),
		/the guard of move-20261128-0000 has failed \(exit code 1\): .*corkboard controller/,
	);
});

test("a guard that fails later ends too, so that its runner does not wait for it", async () => {
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	const primary = "mysql://a@127.0.0.1:1";
	const range = [0, 0];
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: [{ range, primary, open: true }],
			lookups: [{ range, primary }],
		}),
	);
	const said: string[] = [];
	using guard = startGuard(
		{
			env: { ...process.env, CORKBOARD_TOPOLOGY: file },
			stderr: (line) => said.push(line),
		},
		"move-20261128-0000",
	);
	await guard.ended();
	assert.match(said.join("\n"), /has failed \(exit code 1\)/);
});
