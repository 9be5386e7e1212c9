import assert from "node:assert/strict";
import { parse as parseQuery } from "node:querystring";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { CorkboardError } from "../../src/errors.ts";
import { DueProbe } from "../../src/queue/claim/dueProbe.ts";
import { ShardChoice } from "../../src/queue/claim/shardChoice.ts";
import { ShardHealth } from "../../src/queue/enqueue/shardHealth.ts";
import { ClaimLost, job } from "../../src/queue/job.ts";
import { type LocalId, newLocalId } from "../../src/queue/jobId.ts";
import type { ClaimedJob, Held, JobStore } from "../../src/queue/jobStore.ts";
import { monotonicMs } from "../../src/util/monotonic.ts";
import { rendezvousOrder } from "../../src/util/rendezvous.ts";
import { Acks } from "../../src/worker/acks.ts";
import { Capacity } from "../../src/worker/capacity.ts";
import {
	WORKER_CHANNELS,
	type WorkerProblem,
} from "../../src/worker/diagnostics.ts";
import { HeldJobs } from "../../src/worker/heldJobs.ts";
import { JobBuffer } from "../../src/worker/jobBuffer.ts";
import { Abortion, ackOf, runJob } from "../../src/worker/runJob.ts";
import { ShardProblems } from "../../src/worker/shardProblems.ts";
import { retryDelayMs } from "../../src/worker/workerQueue.ts";

const SHARDS = [0, 1, 2, 3];
const due = (shard: number, change: object = {}) => ({
	queue: "a",
	shard,
	priority: 2,
	ageMs: 10,
	...change,
});

const PLACE = { queue: "a", shard: 0 };
const CLAIMED: ClaimedJob = {
	local: newLocalId(),
	bucket: 1,
	claim: 7,
	priority: 2,
	attempts: 1,
	allowed: 2,
	createdAt: 1,
	dueAt: 1,
	until: 60_000_001,
	key: null,
	body: "{}",
};
const AWAY = new CorkboardError("UNAVAILABLE", "Queue shard 0 is away.");
/** Ends waits that are left. */
const ENDED = new AbortController();
after(() => ENDED.abort());

/** A store that does not answer but to these calls. */
function awayExcept(calls: Partial<JobStore>): JobStore {
	const away = async () => {
		throw AWAY;
	};
	return { now: away, turn: away, ...calls } as unknown as JobStore;
}

describe("rendezvous hashing", () => {
	test("moves only the keys of a node that goes, and spreads keys evenly", () => {
		const keys = Array.from({ length: 2_000 }, (_, n) => `key ${n}`);
		const counts = new Map<number, number>();
		for (const key of keys) {
			const [first] = rendezvousOrder(key, SHARDS);
			counts.set(first as number, (counts.get(first as number) ?? 0) + 1);
			const [without] = rendezvousOrder(key, [0, 1, 2]);
			if (first !== 3) assert.equal(without, first);
		}
		for (const count of counts.values()) assert.ok(count > 400 && count < 600);
	});
});

describe("where a worker claims next", () => {
	test("is the first priority of any shard before the second of its own", () => {
		const choice = new ShardChoice("worker");
		const first = due(2, { priority: 1 });
		const chosen = choice.next([due(0), due(1), first, due(3)], SHARDS);
		assert.equal(chosen, first);
	});

	test("is the shard whose oldest job was left behind, no matter who prefers it", () => {
		for (const worker of ["a", "b", "c", "d", "e"]) {
			const old = due(3, { ageMs: 5_000 });
			const chosen = new ShardChoice(worker).next(
				[due(0), due(1), old],
				SHARDS,
			);
			assert.equal(chosen, old);
		}
	});

	test("differs between workers, and is another shard after two batches from one", () => {
		const places = SHARDS.map((shard) => due(shard));
		const firsts = Array.from({ length: 40 }, (_, worker) =>
			new ShardChoice(`worker ${worker}`).next(places, SHARDS),
		);
		assert.equal(new Set(firsts).size, 4);
		const choice = new ShardChoice("worker");
		const chosen = [1, 2, 3].map(() => choice.next(places, SHARDS)?.shard);
		assert.equal(chosen[0], chosen[1]);
		assert.notEqual(chosen[1], chosen[2]);
		assert.equal(choice.next([due(1)], SHARDS)?.shard, 1);
	});

	test("takes turns between queues", () => {
		const choice = new ShardChoice("worker");
		const places = [due(0), due(0, { queue: "b" })];
		const queues = [1, 2, 3, 4].map(() => choice.next(places, SHARDS)?.queue);
		assert.deepEqual(queues, ["a", "b", "a", "b"]);
		assert.equal(choice.next([], SHARDS), undefined);
	});
});

describe("where new jobs go", () => {
	test("is the less busy of two shards, and none that is ill until its time is over", () => {
		let now = 0;
		const health = new ShardHealth(() => now);
		for (let call = 0; call < 10; call++) {
			health.begin(1)(false);
		}
		assert.equal(health.isWell(1), false);
		for (let pick = 0; pick < 50; pick++) {
			assert.notEqual(health.pick([0, 1, 2]), 1);
		}
		assert.equal(health.pick([1]), 1);
		now += 10_000;
		assert.equal(health.isWell(1), true);
		health.begin(1)(true);
		assert.equal(health.isWell(1), true);
		assert.equal(health.pick([]), undefined);
	});
});

describe("the capacity of a worker", () => {
	test("counts what runs, what waits here and what claims under way may bring", () => {
		const jobs = {
			running: { size: 0 },
			waiting: { size: 0 },
			held: { size: 0 },
		};
		const capacity = new Capacity(4, jobs);
		assert.equal(capacity.total, 4 + 6);
		assert.equal(capacity.room, 10);
		const endReservation = capacity.reserve(8);
		assert.deepEqual([capacity.room, capacity.wants], [2, false]);
		endReservation();
		jobs.running.size = 4;
		jobs.waiting.size = 3;
		assert.deepEqual([capacity.room, capacity.wants], [3, true]);
		assert.equal(capacity.canStart, false);
		jobs.waiting.size = 4;
		assert.equal(capacity.wants, false);
		// More than there are places: a claim brought what was reserved for.
		jobs.waiting.size = 11;
		assert.equal(capacity.room, 0);
	});

	test("wants nothing while a thousand jobs are not reported", () => {
		const jobs = {
			running: { size: 0 },
			waiting: { size: 0 },
			held: { size: 999 },
		};
		const capacity = new Capacity(4, jobs);
		assert.equal(capacity.wants, true);
		jobs.held.size = 1_000;
		assert.equal(capacity.wants, false);
	});
});

describe("the buffer of claimed jobs", () => {
	test("gives the first priority first, then the first that came, and gives back what is late", () => {
		const buffer = new JobBuffer<{
			readonly priority: number;
			readonly startBy: number;
			readonly n: number;
		}>();
		buffer.add([
			{ n: 1, priority: 2, startBy: 5 },
			{ n: 2, priority: 2, startBy: 50 },
			{ n: 3, priority: 1, startBy: 50 },
		]);
		assert.equal(buffer.size, 3);
		assert.equal(buffer.take()?.n, 3);
		const late = buffer.remove(({ startBy }) => startBy < 10);
		assert.deepEqual(
			late.map(({ n }) => n),
			[1],
		);
		assert.equal(buffer.take()?.n, 2);
		assert.equal(buffer.take(), undefined);
		assert.equal(buffer.size, 0);
	});
});

describe("a handler that ignores its signal", () => {
	test("frees its place soon after the claim is lost", async () => {
		const hanging = job({
			queue: "hanging",
			body: z.object({}),
			run: () => new Promise(() => {}),
		});
		const abortion = new Abortion();
		const outcome = runJob(hanging, CLAIMED, {
			place: PLACE,
			context: undefined,
			abortion,
			backoff: { firstMs: 1, factor: 1, mostMs: 1, jitter: 0 },
			checkpoint: async () => {},
		});
		abortion.abort(new ClaimLost("The claim of the job has ended."));
		const late = sleep(60_000, null, { signal: ENDED.signal }).catch(
			() => null,
		);
		assert.deepEqual(await Promise.race([outcome, late]), { kind: "lost" });
	});
});

describe("a handler that throws what is no Error", () => {
	test("has failed, with a status that shows it, like any other", async () => {
		const thrown = [
			Object.create(null),
			parseQuery("code=7"),
			Symbol("s"),
			undefined,
			Object.assign(new Error("m"), { message: Object.create(null) }),
		];
		for (const each of thrown) {
			const throwing = job({
				queue: "throwing",
				body: z.object({}),
				run: async () => {
					throw each;
				},
			});
			const outcome = await runJob(throwing, CLAIMED, {
				place: PLACE,
				context: undefined,
				abortion: new Abortion(),
				backoff: { firstMs: 1, factor: 1, mostMs: 1, jitter: 0 },
				checkpoint: async () => {},
			});
			assert.ok(outcome.kind === "fail");
			assert.match(String(ackOf(outcome, CLAIMED).status), /^attempt \d+: ./);
		}
	});
});

describe("what became of a job", () => {
	test("is not reported any more once its claim has ended", async () => {
		const acks = new Acks(awayExcept({}));
		const { local, bucket, claim } = CLAIMED;
		const result = acks.send(
			PLACE,
			{ kind: "succeed", local, bucket, claim },
			() => monotonicMs() - 1,
		);
		const late = sleep(60_000, null, { signal: ENDED.signal }).catch(
			() => null,
		);
		assert.equal(await Promise.race([result, late]), "lost");
	});
});

describe("a claim", () => {
	test("is the worker's also where the shard does not answer after it", async () => {
		const store = awayExcept({
			ackAndClaim: async () => ({ acked: [], claimed: [CLAIMED] }),
		});
		const probe = new DueProbe(store);
		const place = { ...due(0), priority: 2 as const, bucket: 1, oldestAt: 0 };
		const { claimed } = await store.ackAndClaim(PLACE, {});
		probe.claimed(place, claimed, 60_000);
		assert.deepEqual(claimed, [CLAIMED]);
	});
});

describe("shards that cannot be asked for jobs", () => {
	test("are reported once, and so is their end, also where they leave the topology", () => {
		const reported: string[] = [];
		const listen = ({ shard, error }: WorkerProblem) => {
			reported.push(`${shard} ${error === null ? "well" : "away"}`);
		};
		WORKER_CHANNELS.workerProblem.subscribe(listen);
		try {
			const problems = new ShardProblems();
			const away = new Map([
				[0, AWAY],
				[1, AWAY],
			]);
			problems.asked([0, 1, 2], away);
			problems.asked([0, 1, 2], away);
			problems.failed(null, AWAY);
			problems.failed(null, AWAY);
			assert.deepEqual(reported.splice(0), ["0 away", "1 away", "null away"]);
			problems.asked([0, 2], new Map([[0, AWAY]]));
			assert.deepEqual(reported, ["1 well", "null well"]);
		} finally {
			WORKER_CHANNELS.workerProblem.unsubscribe(listen);
		}
	});
});

describe("the back-off of a failed job", () => {
	test("doubles up to its bound, with 20 % more or less", () => {
		const backoff = { firstMs: 1_000, factor: 2, mostMs: 5_000, jitter: 0.2 };
		const at = (attempt: number, random: number) =>
			retryDelayMs(attempt, backoff, () => random);
		assert.deepEqual(
			[1, 2, 3, 4, 60].map((attempt) => at(attempt, 0.5)),
			[1_000, 2_000, 4_000, 5_000, 5_000],
		);
		assert.equal(at(1, 0), 800);
		assert.equal(at(1, 1), 1_200);
	});
});

describe("claims that are held", () => {
	test("are renewed once half of their time is over, and are overdue when all of it is", () => {
		const held = new HeldJobs();
		const job = (n: number): Held => ({
			local: `${n}` as LocalId,
			bucket: 1,
			claim: 7,
		});
		const place = { queue: "a", shard: 0 };
		held.hold({ place, jobs: [job(1), job(2)], claimMs: 100, since: 0 });
		held.hold({ place, jobs: [job(3)], claimMs: 1_000, since: 0 });
		assert.deepEqual(held.due(49, 500), []);
		const [batch] = held.due(50, 500);
		assert.equal(batch?.jobs.length, 2);
		held.renewed([job(1)], 50);
		assert.deepEqual(
			held.overdue([job(1), job(2)], 100).map(({ local }) => local),
			["2"],
		);
		held.drop([job(1), job(2)]);
		assert.equal(held.size, 1);
		assert.equal(held.due(600, 500)[0]?.claimMs, 1_000);
	});
});
