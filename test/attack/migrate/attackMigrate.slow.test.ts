import assert from "node:assert/strict";
import { it } from "node:test";
import { attackMigrate } from "./attackMigrate.ts";
import { madeGraph } from "./madeGraph.ts";

for (const from of ["mysql", "postgres"] as const) {
	it(`nothing is lost of an old ${from} that is written to while the runner is killed`, async () => {
		const result = await attackMigrate({
			from,
			lines: madeGraph(100),
			seed: 1,
			kills: 4,
			writesPerSecond: 50,
			say: () => {},
		});
		assert.deepEqual(result.findings, []);
		assert.ok(result.passesToConverge <= 4, `${result.passesToConverge}`);
	});
}
