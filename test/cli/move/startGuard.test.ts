import assert from "node:assert/strict";
import { test } from "node:test";
import { startGuard } from "../../../src/cli/move/startGuard.ts";
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
