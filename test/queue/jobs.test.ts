import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CorkboardError } from "../../src/errors.ts";
import {
	AHEAD_HOURS,
	bucketOf,
	HOUR_US,
	hourOf,
	isOpen,
	nextBucketOf,
} from "../../src/queue/bucket.ts";
import { ClaimFloors } from "../../src/queue/claim/claimFloors.ts";
import { EnqueueGathering } from "../../src/queue/enqueue/enqueueGathering.ts";
import { Jobs } from "../../src/queue/enqueue/jobs.ts";
import type { Job } from "../../src/queue/job.ts";
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
			queue: "feedItem",
			shard: 3,
			bucket: 497_904,
			local: newLocalId(),
		};
		const text = formatJobId(id);
		assert.match(text, /^feedItem\.3\.497904\.[0-9a-hjkmnp-tv-z]{26}$/);
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

describe("enqueues of a queue at the same time", () => {
	interface Sent {
		readonly bodies: readonly string[];
		readonly done: PromiseWithResolvers<readonly string[]>;
	}

	/** Each result is the body of its job. */
	function gather() {
		const sent: Sent[] = [];
		const gathering = new EnqueueGathering<{ body: string }, string>(
			(jobs) => {
				const bodies = jobs.map(({ body }) => body);
				const done = Promise.withResolvers<readonly string[]>();
				sent.push({ bodies, done });
				return done.promise;
			},
			(error) => (error as Error).message === "away",
		);
		const send = (...bodies: string[]) =>
			gathering.send(bodies.map((body) => ({ body })));
		const answer = (index: number) => {
			const { bodies, done } = sent[index] as Sent;
			done.resolve(bodies);
		};
		const until = async (count: number) => {
			while (sent.length < count) {
				await new Promise((resolve) => setTimeout(resolve, 1));
			}
		};
		return { sent, gathering, send, answer, until };
	}

	it("go together behind those that are under way, and each gets its own results", async () => {
		const { sent, send, answer, until } = gather();
		const calls = [send("a"), send("b"), send("c", "d"), send(), send("e")];
		assert.deepEqual(
			sent.map(({ bodies }) => bodies),
			[["a"], ["b"]],
		);
		answer(0);
		await until(3);
		assert.deepEqual(sent[2]?.bodies, ["c", "d", "e"]);
		answer(1);
		answer(2);
		assert.deepEqual(await Promise.all(calls), [
			["a"],
			["b"],
			["c", "d"],
			[],
			["e"],
		]);
	});

	it("wait for none that is paused", async () => {
		const { sent, send, answer, until } = gather();
		const standing = [send("a"), send("b")];
		const call = send("c");
		await until(3);
		answer(2);
		assert.deepEqual(await call, ["c"]);
		for (const { done } of sent) done.reject(new Error("away"));
		for (const one of standing) await assert.rejects(one, /away/);
	});

	it("are sent alone after an error that may be one call's, and not after others", async () => {
		const { sent, send, answer, until } = gather();
		const first = [send("a"), send("b")];
		const calls = [send("good"), send("bad")];
		answer(0);
		await until(3);
		sent[2]?.done.reject(new Error("too long"));
		await until(4);
		answer(3);
		await until(5);
		sent[4]?.done.reject(new Error("too long"));
		assert.deepEqual(await calls[0], ["good"]);
		await assert.rejects(calls[1] as Promise<unknown>, /too long/);
		answer(1);
		await Promise.all(first);

		const both = [send("c"), send("d"), send("e"), send("f")];
		answer(5);
		await until(8);
		assert.deepEqual(sent[7]?.bodies, ["e", "f"]);
		const refused = both.slice(2).map((call) => assert.rejects(call, /away/));
		sent[7]?.done.reject(new Error("away"));
		answer(6);
		await Promise.all([...both.slice(0, 2), ...refused]);
		assert.equal(sent.length, 8);
	});

	it("share no statement of more than 500 jobs or a megabyte", async () => {
		const { sent, gathering, send, answer, until } = gather();
		const calls = [send("a"), send("b")];
		for (let n = 0; n < 12; n++) {
			calls.push(send(...Array.from({ length: 90 }, (_, at) => `${n} ${at}`)));
		}
		const long = "x".repeat(90_000);
		for (let n = 0; n < 12; n++) calls.push(send(long));
		for (let at = 0; at < sent.length || at < 6; at++) {
			await until(at + 1);
			answer(at);
			await new Promise((resolve) => setTimeout(resolve, 1));
		}
		await Promise.all(calls);
		for (const { bodies } of sent) {
			assert.ok(bodies.length <= 500);
			assert.ok(bodies.join("").length <= 1_000_000);
		}
		assert.equal(sent.flatMap(({ bodies }) => bodies).length, 2 + 1_080 + 12);
		const body = "";
		assert.ok(!gathering.takes(Array.from({ length: 101 }, () => ({ body }))));
		assert.ok(!gathering.takes([{ body: "x".repeat(100_001) }]));
	});
});

describe("an enqueue while the only shard takes no writes", () => {
	/** A store of one shard that refuses so many times, as a primary does that is being replaced. */
	const refusing = (times: number) => {
		let asked = 0;
		const store = {
			shards: [0],
			openShards: [0],
			hostOf: () => "db001a:3306",
			now: async () => Date.now() * 1_000,
			enqueue: async (_: unknown, jobs: readonly unknown[]) => {
				if (++asked > times) return jobs.map(() => "stored");
				throw new CorkboardError("UNAVAILABLE", "The host takes no writes.", {
					details: { kind: "readOnly" },
				});
			},
		};
		return {
			jobs: new Jobs(store as never, { publish() {} } as never, null),
			asked: () => asked,
		};
	};

	const MAIL = {
		queue: "mail",
		attempts: 3,
		encode: (body: string) => body,
	} as unknown as Job<string, never>;

	it("waits as a write does, also for a job with a key", async () => {
		const { jobs, asked } = refusing(6);
		const { id } = await jobs.enqueue(MAIL, "a");
		assert.match(id, /^mail\.0\./);
		assert.equal(asked(), 7);
		await jobs.enqueue(MAIL, "a", { key: "k" });
	});

	it("does not wait where an outbox entry promises the job, which is delivered again", async () => {
		const { jobs, asked } = refusing(6);
		const place = await jobs.prepare();
		const placed = [place("mail", "a", { attempts: 3 })];
		await assert.rejects(jobs.enqueuePlaced(placed, false), {
			code: "UNAVAILABLE",
		});
		assert.equal(asked(), 1);
	});
});
