import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { runInSlots } from "./schedule.ts";

/** Runs eight jobs. They end, and it looks, when the test says so. */
function eightJobs() {
	const ends = new Map<number, () => void>();
	let look = Promise.withResolvers<void>();
	let idle = 0;
	const ended = runInSlots(
		[0, 1, 2, 3, 4, 5, 6, 7],
		{
			least: 2,
			most: 4,
			idleCores: () => idle,
			nextLook: () => look.promise,
		},
		(job) => new Promise((resolve) => ends.set(job, resolve)),
		AbortSignal.timeout(60_000),
	);
	return {
		ended,
		running: () => [...ends.keys()],
		/** So many looks, each of which finds that so many cores were idle. */
		async looks(count: number, cores: number) {
			idle = cores;
			for (let n = 0; n < count; n++) {
				const { resolve } = look;
				look = Promise.withResolvers();
				resolve();
				await turn();
			}
		},
		async end(...jobs: readonly number[]) {
			for (const job of jobs) {
				ends.get(job)?.();
				ends.delete(job);
			}
			await turn();
		},
	};
}

test("more jobs run while cores are idle, up to the most, and a job that ends is replaced at once", async () => {
	const jobs = eightJobs();
	assert.deepEqual(jobs.running(), [0, 1]);
	await jobs.looks(1, 1);
	assert.deepEqual(jobs.running(), [0, 1, 2]);
	await jobs.looks(20, 2);
	assert.deepEqual(jobs.running(), [0, 1, 2, 3]);
	await jobs.end(1, 3);
	assert.deepEqual(jobs.running(), [0, 2, 4, 5]);
	await jobs.end(0, 2, 4, 5);
	await jobs.end(6, 7);
	await jobs.ended;
});

test("while no core is idle a job that ends is not replaced, down to the least", async () => {
	const jobs = eightJobs();
	await jobs.looks(20, 2);
	assert.deepEqual(jobs.running(), [0, 1, 2, 3]);
	await jobs.looks(20, 0);
	assert.deepEqual(jobs.running(), [0, 1, 2, 3]);
	await jobs.end(0, 1);
	assert.deepEqual(jobs.running(), [2, 3]);
	await jobs.end(2, 3);
	assert.deepEqual(jobs.running(), [4, 5]);
	await jobs.end(4, 5);
	await jobs.end(6, 7);
	await jobs.ended;
});
