import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
	AHEAD_HOURS,
	bucketOf,
	HOUR_US,
	hourOf,
	isOpen,
	nextBucketOf,
} from "../../src/queue/bucket.ts";
import { ClaimFloors } from "../../src/queue/claimFloors.ts";
import {
	checkLocalId,
	checkQueueName,
	formatJobId,
	newClaim,
	newLocalId,
	parseJobId,
} from "../../src/queue/jobId.ts";

describe("ids of jobs", () => {
	it("ascend within a process, also within a millisecond and when the clock steps back", () => {
		const ids = Array.from({ length: 5_000 }, (_, index) =>
			newLocalId(Date.now() - (index % 3) * 1_000),
		);
		assert.deepEqual(ids, [...new Set(ids)].toSorted());
		for (const id of ids) checkLocalId(id);
	});

	it("are UUIDs of version 7 with their millisecond in front", () => {
		const ms = Date.now() + 60_000;
		const id = newLocalId(ms);
		assert.equal(Number.parseInt(id.slice(0, 12), 16), ms);
		assert.equal(id[12], "7");
		assert.match(id[16] as string, /[89ab]/);
	});

	it("are the same after they were written as text", () => {
		const id = {
			queue: "feedPin",
			shard: 3,
			bucket: 497_904,
			local: newLocalId(),
		};
		const text = formatJobId(id);
		assert.match(text, /^feedPin\.3\.497904\.[0-9a-hjkmnp-tv-z]{26}$/);
		assert.deepEqual(parseJobId(text), id);
	});

	it("are refused in any other form", () => {
		const text = formatJobId({
			queue: "a",
			shard: 0,
			bucket: 1,
			local: newLocalId(),
		});
		for (const wrong of [
			"",
			"a.0.1",
			`${text}.x`,
			text.toUpperCase(),
			text.replace("a.0", "A.0"),
			text.replace("a.0", "a.00"),
			`${text.slice(0, -1)}u`,
			text.replace(/.{26}$/, "z".repeat(26)),
			text.replace(/.{26}$/, "0".repeat(26)),
		]) {
			assert.equal(parseJobId(wrong), null, wrong);
		}
		assert.throws(() => checkLocalId("' OR 1"), TypeError);
		assert.throws(() => checkQueueName("a`b"), TypeError);
	});

	it("have claims whose tokens are exact numbers above 0", () => {
		for (let count = 0; count < 1_000; count++) {
			const claim = newClaim();
			assert.ok(Number.isSafeInteger(claim) && claim > 0);
		}
	});
});

describe("the bucket of a job", () => {
	const now = 500_000 * HOUR_US + 1_800_000_000;
	const hour = hourOf(now);

	it("is its hour, never a past one, and at most a day ahead", () => {
		assert.equal(bucketOf(now - 5 * HOUR_US, now), hour);
		assert.equal(bucketOf(now, now), hour);
		assert.equal(bucketOf(now + 2 * HOUR_US, now), hour + 2);
		assert.equal(bucketOf(now + 999 * HOUR_US, now), hour + AHEAD_HOURS);
	});

	it("stays while an enqueue of the job may be repeated, unless it is past", () => {
		const later = now + 2 * HOUR_US;
		const young = { bucket: hour, createdAt: now - 1_000_000 };
		assert.equal(nextBucketOf(young, later, now), hour);
		assert.equal(nextBucketOf({ ...young, bucket: hour - 1 }, now, now), hour);
		const old = { bucket: hour, createdAt: now - 300_000_000 };
		assert.equal(nextBucketOf(old, later, now), hour + 2);
		// It is due before its bucket's hour: no claim would find it there.
		assert.equal(nextBucketOf({ ...young, bucket: hour + 3 }, now, now), hour);
	});

	it("takes rows of its hour for a minute more", () => {
		const end = (hour + 1) * HOUR_US;
		assert.ok(isOpen(hour, end - 1));
		assert.ok(isOpen(hour, end + 59_000_000));
		assert.ok(!isOpen(hour, end + 61_000_000));
	});
});

describe("the floor under claims", () => {
	const at = { queue: "a", shard: 0 };
	const start = 1_000_000_000_000;
	const second = 1_000_000;

	it("follows the claims a second behind them, and ten behind the clock", () => {
		const floors = new ClaimFloors();
		assert.equal(floors.floor(at, 1, 1, start), 0);
		const dueAt = start - 100 * second;
		floors.claimed(at, 1, 1, dueAt, start);
		assert.equal(floors.floor(at, 1, 1, start + second / 2), 0);
		assert.equal(floors.floor(at, 1, 1, start + second), dueAt);
		assert.equal(floors.floor(at, 1, 2, start + second), 0);
		floors.claimed(at, 1, 1, start + second, start + second);
		const now = start + 3 * second;
		assert.equal(floors.floor(at, 1, 1, now), now - 10 * second);
	});

	it("is 0 once a minute", () => {
		const floors = new ClaimFloors();
		floors.claimed(at, 1, 1, start, start);
		assert.equal(floors.floor(at, 1, 1, start + 59 * second), start);
		assert.equal(floors.floor(at, 1, 1, start + 60 * second), 0);
		assert.equal(floors.floor(at, 1, 1, start + 61 * second), 0);
	});
});
