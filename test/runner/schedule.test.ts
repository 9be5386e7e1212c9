import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { until } from "../helpers/until.ts";
import { idleCoresOf, runInSlots } from "./schedule.ts";

/** Jobs that end when the test says so. */
class Jobs {
	readonly running = new Map<number, () => void>();
	most = 0;
	readonly begun: number[] = [];

	run = (job: number): Promise<void> => {
		const { promise, resolve } = Promise.withResolvers<void>();
		this.running.set(job, resolve);
		this.begun.push(job);
		this.most = Math.max(this.most, this.running.size);
		return promise;
	};

	end(job: number): void {
		this.running.get(job)?.();
		this.running.delete(job);
	}
}

/** Counts how often the cores are looked at. */
function looking(idle: () => number) {
	let looks = 0;
	const idleCores = () => {
		looks++;
		return idle();
	};
	const pass = async (count: number) => {
		const enough = looks + count;
		await until("looks at the cores", () => looks >= enough);
	};
	return { slots: { least: 2, most: 4, stepMs: 1, idleCores }, pass };
}

const NEVER = new AbortController().signal;

describe("jobs in slots", () => {
	it("run in their order, as many at once as there are cores while these are busy", async () => {
		const jobs = new Jobs();
		const { slots, pass } = looking(() => 0);
		const all = runInSlots([1, 2, 3, 4, 5], slots, jobs.run, NEVER);
		await pass(20);
		assert.deepEqual(jobs.begun, [1, 2]);
		jobs.end(2);
		await until("the third", () => jobs.running.has(3));
		for (const job of [1, 3, 4, 5]) {
			await until(`job ${job}`, () => jobs.running.has(job));
			jobs.end(job);
		}
		await all;
		assert.deepEqual(jobs.begun, [1, 2, 3, 4, 5]);
		assert.equal(jobs.most, 2);
	});

	it("are more than the cores while cores are idle, up to a limit", async () => {
		const jobs = new Jobs();
		const { slots, pass } = looking(() => 1);
		const all = runInSlots([1, 2, 3, 4, 5], slots, jobs.run, NEVER);
		await until("four jobs", () => jobs.running.size === 4);
		await pass(20);
		assert.deepEqual(jobs.begun, [1, 2, 3, 4]);
		jobs.end(1);
		await until("the last", () => jobs.running.has(5));
		for (const job of [2, 3, 4, 5]) jobs.end(job);
		await all;
	});

	it("are not begun any more once the run is stopped", async () => {
		const jobs = new Jobs();
		const { slots } = looking(() => 1);
		const stop = new AbortController();
		const all = runInSlots([1, 2, 3, 4, 5], slots, jobs.run, stop.signal);
		await until("two jobs", () => jobs.running.size >= 2);
		stop.abort();
		for (const job of [1, 2, 3, 4]) jobs.end(job);
		await all;
		assert.ok(!jobs.begun.includes(5));
	});
});

it("the idle cores are those of the time since the look before, each by its share", () => {
	const times = (user: number, idle: number) => ({
		times: { user, nice: 0, sys: 0, idle, irq: 0 },
	});
	const looks = [
		[times(500, 100), times(0, 900)],
		[times(500, 200), times(100, 900)],
		[times(575, 225), times(150, 950)],
		[times(575, 225), times(150, 950)],
	];
	const idleCores = idleCoresOf(() => looks.shift() ?? []);
	assert.equal(idleCores(), 1);
	assert.equal(idleCores(), 0.75);
	assert.equal(idleCores(), 0, "no time has passed");
});
