import assert from "node:assert/strict";
import { it } from "node:test";
import { SUBJECTS, scheduleFaults } from "./schedule.ts";

it("the attack on the queue has the same faults for the same seed, of every process", () => {
	assert.deepEqual(scheduleFaults(1, 60_000), scheduleFaults(1, 60_000));
	assert.notDeepEqual(scheduleFaults(1, 60_000), scheduleFaults(2, 60_000));
	const subjects = scheduleFaults(1, 120_000).map(({ subject }) => subject);
	assert.deepEqual(new Set(subjects), new Set(SUBJECTS));
});
