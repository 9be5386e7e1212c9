import assert from "node:assert/strict";
import { join } from "node:path";
import { it } from "node:test";
import { startProgram } from "../../helpers/program.ts";

it("an attack of some seconds on workers, hosts and Redis loses no job, and runs none twice without need", async () => {
	await using attack = startProgram(
		["queue", "--seed", "1", "--seconds", "8", "--json"],
		{
			command: [process.execPath, join(import.meta.dirname, "../main.ts")],
		},
	);
	const { code, out, err } = await attack.ended;
	assert.equal(code, 0, out + err);
	const report = JSON.parse(out);
	assert.deepEqual(report.violations, []);
	assert.ok(report.asked.acknowledged > 0, out);
	assert.ok(report.runs > 0, out);
});
