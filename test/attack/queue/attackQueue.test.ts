import assert from "node:assert/strict";
import { join } from "node:path";
import { it } from "node:test";
import { startProgram } from "../../helpers/program.ts";
import { SUBJECTS, scheduleFaults } from "./schedule.ts";

it("an attack of some seconds on workers, hosts and Redis loses no job, and runs none twice without need", async () => {
	await using attack = startProgram(["queue", "--seconds", "8", "--json"], {
		command: [process.execPath, join(import.meta.dirname, "../main.ts")],
	});
	const { code, out, err } = await attack.ended;
	assert.equal(code, 0, out + err);
	const report = JSON.parse(out);
	assert.deepEqual(report.violations, []);
	assert.ok(report.asked.acknowledged > 0, out);
	assert.ok(report.runs > 0, out);
});

it("the attack on the queue has the same faults for the same seed, of every process", () => {
	assert.deepEqual(scheduleFaults(1, 60_000), scheduleFaults(1, 60_000));
	assert.notDeepEqual(scheduleFaults(1, 60_000), scheduleFaults(2, 60_000));
	const subjects = scheduleFaults(1, 120_000).map(({ subject }) => subject);
	assert.deepEqual(new Set(subjects), new Set(SUBJECTS));
});
