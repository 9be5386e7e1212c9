import assert from "node:assert/strict";
import { it } from "node:test";
import { attackMigrate } from "./attackMigrate.ts";
import { madeGraph } from "./madeGraph.ts";

for (const [from, to] of [
	["mysql", "mysql"],
	["postgres", "embedded"],
] as const) {
	it(`nothing is lost of an old ${from} that is written to while the runner and the servers are killed`, async () => {
		const result = await attackMigrate({
			from,
			to,
			lines: madeGraph(100),
			seed: 1,
			kills: 6,
			outages: 1,
			life: 6_000,
			open: 5_000,
			writesPerSecond: 50,
			say: () => {},
			signal: new AbortController().signal,
		});
		assert.deepEqual(result.findings, []);
		assert.ok(result.passesToConverge <= 4, `${result.passesToConverge}`);
	});
}
