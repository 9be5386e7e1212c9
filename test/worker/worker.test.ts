import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { claimBatches } from "../../src/queue/claim/claimBatches.ts";
import { LocalHints } from "../../src/queue/hints.ts";
import { GiveUp, job, Later } from "../../src/queue/job.ts";
import { newLocalId, parseJobId } from "../../src/queue/jobId.ts";
import type { Held } from "../../src/queue/jobStore.ts";
import { openJobStoreOf } from "../../src/queue/openJobStore.ts";
import { monotonicMs } from "../../src/util/monotonic.ts";
import {
	WORKER_CHANNELS,
	type WorkerProblem,
} from "../../src/worker/diagnostics.ts";
import { Renewals } from "../../src/worker/renewals.ts";
import { busyFor } from "../helpers/busy.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { openWorld } from "./world.ts";

describe("a worker", () => {
	test("runs a job with its body, once", async () => {
		const bodies: unknown[] = [];
		const hello = job({
			queue: "hello",
			body: z.object({ name: z.string() }),
			async run({ body }) {
				bodies.push(body);
			},
		});
		await using world = await openWorld([hello]);
		const { id } = await world.jobs.enqueue(hello, { name: "Ada" });
		await world.untilEnded(id, "succeeded");
		assert.deepEqual(bodies, [{ name: "Ada" }]);
	});

	test("runs at most `concurrency` jobs at the same time, and all of them", async () => {
		let running = 0;
		let most = 0;
		let runs = 0;
		const busy = job({
			queue: "busy",
			body: z.object({}),
			async run() {
				most = Math.max(most, ++running);
				await sleep(5);
				running--;
				runs++;
			},
		});
		await using world = await openWorld([busy], { concurrency: 3 });
		await world.jobs.enqueueAll(
			busy,
			Array.from({ length: 50 }, () => ({ body: {} })),
		);
		await until("50 runs", () => runs === 50);
		assert.equal(most, 3);
	});

	test("tries a job that throws again after its back-off, until its attempts are used up", async () => {
		const attempts: number[] = [];
		const failing = job({
			queue: "failing",
			body: z.object({}),
			attempts: 3,
			async run({ attempt }) {
				attempts.push(attempt);
				throw new Error("no luck");
			},
		});
		await using world = await openWorld([failing], {
			settings: { backoffFirstMs: 20 },
		});
		const { id } = await world.jobs.enqueue(failing, {});
		const stored = await world.untilEnded(id, "failed");
		assert.deepEqual(attempts, [1, 2, 3]);
		assert.match(stored.status, /^attempt 3: Error: no luck\n/);
	});

	test("starts a job again that asks for later, without an attempt used, and fails one for good that gives up", async () => {
		let starts = 0;
		const patient = job({
			queue: "patient",
			body: z.object({}),
			attempts: 1,
			async run() {
				if (++starts < 4) throw new Later(10, "not yet");
				throw new GiveUp("no use");
			},
		});
		await using world = await openWorld([patient]);
		const { id } = await world.jobs.enqueue(patient, {}, { attempts: 1 });
		const stored = await world.untilEnded(id, "failed");
		assert.equal(starts, 4);
		assert.match(stored.status, /GiveUp: no use/);
	});

	test("goes on with the body of the last checkpoint", async () => {
		const bodies: number[] = [];
		const steps = job({
			queue: "steps",
			body: z.object({ at: z.number() }),
			attempts: 5,
			async run({ body, checkpoint }) {
				bodies.push(body.at);
				if (body.at === 2) return;
				await checkpoint({ body: { at: body.at + 1 }, note: "a step" });
				throw new Error("crash");
			},
		});
		await using world = await openWorld([steps], {
			settings: { backoffFirstMs: 5 },
		});
		const { id } = await world.jobs.enqueue(steps, { at: 0 });
		await world.untilEnded(id, "succeeded");
		assert.deepEqual(bodies, [0, 1, 2]);
	});

	test("keeps a claim while its handler runs longer than it, and starts the job once", async () => {
		let starts = 0;
		const slow = job({
			queue: "slow",
			body: z.object({}),
			claimMs: 1_000,
			async run() {
				starts++;
				await sleep(2_500);
			},
		});
		await using world = await openWorld([slow], {
			limits: { expireMs: 100 },
		});
		const { id } = await world.jobs.enqueue(slow, {});
		const { attempts } = await world.untilEnded(id, "succeeded");
		assert.equal(starts, 1);
		assert.equal(attempts, 1);
	});

	test("keeps a claim while its handler keeps the event loop busy", async () => {
		let starts = 0;
		const blocking = job({
			queue: "blocking",
			body: z.object({}),
			claimMs: 1_000,
			async run() {
				starts++;
				busyFor(2_500);
			},
		});
		await using world = await openWorld([blocking], {
			limits: { expireMs: 50 },
		});
		const { id } = await world.jobs.enqueue(blocking, {});
		const { attempts } = await world.untilEnded(id, "succeeded");
		assert.equal(starts, 1);
		assert.equal(attempts, 1);
	});

	test("aborts the signal of a job that runs too long, and fails the attempt though the handler goes on", async () => {
		const reasons: unknown[] = [];
		const endless = job({
			queue: "endless",
			body: z.object({}),
			attempts: 1,
			maxRunMs: 50,
			async run({ signal }) {
				signal.addEventListener("abort", () => reasons.push(signal.reason));
				await new Promise(() => {});
			},
		});
		await using world = await openWorld([endless]);
		const { id } = await world.jobs.enqueue(endless, {});
		const { status } = await world.untilEnded(id, "failed");
		assert.match(status, /RanTooLong: It ran longer than 0.05 s/);
		assert.equal(reasons.length, 1);
	});

	test("drains: waits for running jobs, gives back what has not begun, aborts and gives back the rest", async () => {
		const aborted: string[] = [];
		const started: string[] = [];
		const mixed = job({
			queue: "mixed",
			body: z.object({ kind: z.enum(["quick", "heeds", "ignores", "waits"]) }),
			attempts: 2,
			async run({ body: { kind }, signal }) {
				started.push(kind);
				if (kind === "quick") await sleep(100);
				if (kind === "heeds") await sleep(60_000, undefined, { signal });
				if (kind === "ignores") {
					signal.addEventListener("abort", () => aborted.push(kind));
					await sleep(30_000, undefined, { ref: false });
				}
			},
		});
		await using world = await openWorld([mixed], {
			concurrency: 3,
			limits: { drainMs: 1_000, abortMs: 200, releaseMs: 5_000 },
		});
		const kinds = ["quick", "heeds", "ignores", "waits"] as const;
		const ids = [];
		for (const kind of kinds) {
			ids.push((await world.jobs.enqueue(mixed, { kind })).id);
			if (kind !== "waits")
				await until(`a start of ${kind}`, () => started.includes(kind));
		}
		const began = performance.now();
		await world.worker.drain();
		const took = performance.now() - began;
		assert.ok(took >= 1_200, `drained in ${took} ms`);
		const stored = await Promise.all(ids.map((id) => world.find(id)));
		assert.equal(stored[0]?.state, "succeeded");
		for (const given of stored.slice(1, 3)) {
			assert.equal(given?.state, "pending");
			assert.equal(given?.attempts, 0);
		}
		assert.deepEqual(aborted, ["ignores"]);
	});

	test("leaves a queue alone that is paused, and goes on when it is not any more", async () => {
		let starts = 0;
		const paused = job({
			queue: "paused",
			body: z.object({}),
			async run() {
				starts++;
			},
		});
		await using world = await openWorld([paused], {
			settings: { paused: true },
		});
		const { id } = await world.jobs.enqueue(paused, {});
		await sleep(300);
		assert.equal(starts, 0);
		await world.set("paused", {});
		await world.untilEnded(id, "succeeded");
	});

	test("finds what is due although the worker that probes for all does not", async () => {
		class Following extends LocalHints {
			override readonly isConnected = true;
			override async leads() {
				return false;
			}
		}
		const delayed = job({
			queue: "delayed",
			body: z.object({}),
			run: async () => {},
		});
		await using world = await openWorld([delayed], {
			hints: new Following(),
			limits: {
				firstIdleMs: 5,
				mostIdleMs: 20,
				hintedIdleMs: 20,
				followingMs: 200,
			},
		});
		const { id } = await world.jobs.enqueue(delayed, {}, { delayMs: 500 });
		await world.untilEnded(id, "succeeded");
	});

	test("claims where a hint says that a job was enqueued, without looking for it", async () => {
		const hinted = job({
			queue: "hinted",
			body: z.object({}),
			run: async () => {},
		});
		await using world = await openWorld([hinted], {
			limits: {
				firstIdleMs: 600_000,
				mostIdleMs: 600_000,
				missedMs: 600_000,
			},
		});
		let probes = 0;
		const due = world.store.due.bind(world.store);
		world.store.due = (ranges) => {
			probes++;
			return due(ranges);
		};
		// While the worker is at its first probes, these find the jobs.
		await until("a job is claimed without a probe", async () => {
			const before = probes;
			const { id } = await world.jobs.enqueue(hinted, {});
			await world.untilEnded(id, "succeeded");
			return probes === before;
		});
		// One that is due later has to be looked for.
		const { id } = await world.jobs.enqueue(hinted, {}, { delayMs: 100 });
		await world.untilEnded(id, "succeeded");
		assert.ok(probes > 0);
	});

	test("leaves jobs of other queues to programs that claim them in batches", async () => {
		const foreign = job({
			queue: "foreign",
			body: z.object({ n: z.number() }),
			run: async () => {},
		});
		await using world = await openWorld([]);
		await world.set("foreign", {});
		const stop = new AbortController();
		const claims = claimBatches(world, "foreign", {
			limit: 3,
			signal: stop.signal,
		});
		const numbers: number[] = [];
		const ids: string[] = [];
		const producing = (async () => {
			for (let n = 0; n < 5; n++) {
				ids.push((await world.jobs.enqueue(foreign, { n })).id);
			}
		})();
		for await (const batch of claims) {
			assert.ok(batch.jobs.length <= 3);
			for (const { body } of batch.jobs) numbers.push(JSON.parse(body).n);
			const acked = await batch.succeed(batch.jobs);
			assert.ok(acked.every((one) => one === "done"));
			if (numbers.length === 5) stop.abort();
		}
		await producing;
		assert.deepEqual(numbers.toSorted(), [0, 1, 2, 3, 4]);
		for (const id of ids) await world.untilEnded(id, "succeeded");
	});

	test("names jobs by ids that say where they are", async () => {
		const named = job({
			queue: "named",
			body: z.object({}),
			run: async () => {},
		});
		await using world = await openWorld([named]);
		const { id } = await world.jobs.enqueue(named, {}, { delayMs: 60_000 });
		assert.equal(parseJobId(id)?.queue, "named");
		const merged = await world.jobs.enqueue(
			named,
			{},
			{ delayMs: 60_000, key: "one" },
		);
		const again = await world.jobs.enqueue(
			named,
			{},
			{ delayMs: 60_000, key: "one" },
		);
		assert.equal(merged.isMerged, false);
		assert.deepEqual(again, { id: merged.id, isMerged: true });
	});
});

describe("the thread that renews claims", () => {
	test("is begun anew where it ends by an error, with the claims that are held", async () => {
		using folder = temporaryFolder();
		const source = {
			queues: [{ range: [0, 0] as const, primary: `sqlite:${folder.path}` }],
		};
		await using store = openJobStoreOf(source);
		await store.createTables();
		const place = { queue: "some", shard: 0 };
		await store.put(0, { name: place.queue, settings: {}, version: 1 });
		const problems: unknown[] = [];
		const listen = (message: WorkerProblem) =>
			void problems.push(message.error);
		WORKER_CHANNELS.workerProblem.subscribe(listen);
		using _unsubscribed = {
			[Symbol.dispose]: () => WORKER_CHANNELS.workerProblem.unsubscribe(listen),
		};
		const lost: string[] = [];
		await using renewals = await Renewals.start({
			source,
			maxBlockMs: 60_000,
			events: {
				onLost: (jobs) => lost.push(...jobs.map(({ local }) => local)),
				onRenewed() {},
			},
		});
		const held = (claim: number) => [{ local: newLocalId(), bucket: 1, claim }];
		// The store does not know it: a thread that renews it finds it lost.
		const [job] = held(1);
		renewals.hold({
			place,
			jobs: [job as Held],
			claimMs: 60_000,
			since: monotonicMs() - 20_000,
		});
		// What it cannot stand.
		const poison = held(2);
		const nowhere = null as unknown as typeof place;
		renewals.hold({
			place: nowhere,
			jobs: poison,
			claimMs: 60_000,
			since: monotonicMs() - 40_000,
		});
		await until("an error", () => problems.length > 0);
		assert.ok(problems[0] instanceof Error);
		for (const one of poison) renewals.drop(one);
		await until("the next thread", () => problems.at(-1) === null);
		assert.deepEqual(lost, []);
		await until("the claim to be renewed", () => lost.length > 0);
		assert.deepEqual(lost, [job?.local]);
	});
});
