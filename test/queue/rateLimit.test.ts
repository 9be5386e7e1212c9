import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
	allow,
	isStopped,
	limitOfShard,
	type RateBucket,
	take,
} from "../../src/queue/rateLimit.ts";
import { DEFAULT_SETTINGS } from "../../src/queue/settings.ts";

const SECOND = 1_000_000;
const set = (values: Partial<typeof DEFAULT_SETTINGS>) => ({
	...DEFAULT_SETTINGS,
	...values,
});

describe("the rate limit of a shard", () => {
	test("starts no more than rate times time and one, whenever it is asked", () => {
		for (const perSecond of [0.1, 3, 7.3, 250]) {
			const limit = { perSecond, burst: 1, maxRunning: null };
			let bucket: RateBucket = { tokens: 1, filledAt: 0 };
			const starts: number[] = [];
			let seed = 1;
			for (let now = 0; now < 60 * SECOND; ) {
				seed = (seed * 48_271) % 2_147_483_647;
				// Between 0 and 400 ms later; one in seven clocks is 50 ms behind.
				now += Math.floor((seed / 2_147_483_647) * 400_000);
				const at = seed % 7 === 0 ? now - 50_000 : now;
				const given = allow(limit, bucket, { wanted: 5, running: 0, now: at });
				bucket = take(given.bucket, given.jobs);
				for (let n = 0; n < given.jobs; n++) starts.push(now);
			}
			for (const [first, from] of starts.entries()) {
				for (let last = first; last < starts.length; last += 17) {
					const seconds = ((starts[last] as number) - from) / SECOND;
					// 50 ms for the clocks that are behind.
					assert.ok(
						last - first + 1 <= perSecond * (seconds + 0.05) + 1 + 1e-6,
						`${perSecond}/s: ${last - first + 1} in ${seconds} s`,
					);
				}
			}
			assert.ok(starts.length >= 1);
		}
	});

	test("says when a job may start, and then lets it", () => {
		const limit = { perSecond: 4, burst: 1, maxRunning: null };
		const ask = (bucket: RateBucket, now: number) =>
			allow(limit, bucket, { wanted: 2, running: 0, now });
		const first = ask({ tokens: 1, filledAt: 0 }, 0);
		assert.equal(first.jobs, 1);
		const taken = take(first.bucket, 1);
		const second = ask(taken, 100_000);
		assert.equal(second.jobs, 0);
		assert.equal(second.waitMs, 150);
		assert.equal(ask(second.bucket, 250_000).jobs, 1);
	});

	test("reaches its rate when asked each time that it says", () => {
		const limit = { perSecond: 10, burst: 1, maxRunning: null };
		let bucket: RateBucket = { tokens: 0, filledAt: 0 };
		let now = 0;
		let started = 0;
		while (now < 100 * SECOND) {
			const given = allow(limit, bucket, { wanted: 1, running: 0, now });
			bucket = take(given.bucket, given.jobs);
			started += given.jobs;
			now += (given.waitMs ?? 0) * 1_000;
		}
		assert.ok(started >= 999 && started <= 1_001, String(started));
	});

	test("lets a burst start at once, and no more than that after any pause", () => {
		const limit = { perSecond: 100, burst: 20, maxRunning: null };
		const given = allow(
			limit,
			{ tokens: 0, filledAt: 0 },
			{ wanted: 500, running: 0, now: 3_600 * SECOND },
		);
		assert.equal(given.jobs, 20);
		assert.equal(take(given.bucket, 20).tokens, 0);
	});

	test("is not filled twice by a clock that went back", () => {
		const limit = { perSecond: 1, burst: 1, maxRunning: null };
		const bucket = { tokens: 0, filledAt: 10 * SECOND };
		const back = allow(limit, bucket, { wanted: 1, running: 0, now: 0 });
		assert.deepEqual(back.bucket, bucket);
		const again = allow(limit, back.bucket, {
			wanted: 1,
			running: 0,
			now: 10.5 * SECOND,
		});
		assert.equal(again.jobs, 0);
		assert.equal(again.bucket.tokens, 0.5);
	});

	test("of 0, or of a paused queue, lets nothing start and names no time", () => {
		for (const settings of [
			set({ paused: true }),
			set({ maxJobsPerSecond: 0 }),
		]) {
			assert.ok(isStopped(settings));
			const limit = limitOfShard(settings, 2, 0);
			assert.ok(limit);
			const given = allow(
				limit,
				{ tokens: 0, filledAt: 0 },
				{ wanted: 1, running: 0, now: 1e15 },
			);
			assert.deepEqual([given.jobs, given.waitMs], [0, null]);
		}
		assert.ok(!isStopped(set({ maxJobsPerSecond: 0.1 })));
	});

	test("pauses a queue also with tokens left from before", () => {
		const limit = limitOfShard(set({ paused: true }), 1, 0);
		assert.ok(limit);
		const bucket = { tokens: 1, filledAt: 0 };
		assert.equal(
			allow(limit, bucket, { wanted: 1, running: 0, now: 1 }).jobs,
			0,
		);
	});
});

describe("the limits of a queue", () => {
	test("are shared out among its shards", () => {
		const settings = set({ maxJobsPerSecond: 9, maxRunning: 10 });
		assert.deepEqual(
			[0, 1, 2].map((at) => limitOfShard(settings, 3, at)),
			[
				{ perSecond: 3, burst: 1, maxRunning: 4 },
				{ perSecond: 3, burst: 1, maxRunning: 3 },
				{ perSecond: 3, burst: 1, maxRunning: 3 },
			],
		);
		// A shard without a share would never start its jobs.
		assert.equal(limitOfShard(set({ maxRunning: 1 }), 3, 2)?.maxRunning, 1);
	});

	test("take no lock where there are none", () => {
		assert.equal(limitOfShard(DEFAULT_SETTINGS, 3, 0), null);
	});

	test("let no more run than maxRunning leaves free", () => {
		const limit = { perSecond: null, burst: 1, maxRunning: 5 };
		const bucket = { tokens: 0, filledAt: 0 };
		const jobs = [0, 3, 5, 9].map(
			(running) => allow(limit, bucket, { wanted: 4, running, now: 0 }).jobs,
		);
		assert.deepEqual(jobs, [4, 2, 0, 0]);
		const both = allow(
			{ perSecond: 10, burst: 3, maxRunning: 5 },
			{ tokens: 3, filledAt: 0 },
			{ wanted: 4, running: 5, now: 0 },
		);
		assert.deepEqual([both.jobs, both.waitMs], [0, null]);
	});
});
