import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../src/errors.ts";
import { bucketOf } from "../../src/queue/bucket.ts";
import { createQueueCalls } from "../../src/queue/claim/queueCalls.ts";
import { QueueBounds } from "../../src/queue/enqueue/queueBounds.ts";
import { newLocalId } from "../../src/queue/jobId.ts";
import type {
	Ack,
	JobAdmin,
	JobStore,
	NewJob,
	QueueRow,
} from "../../src/queue/jobStore.ts";
import { LiveSettings } from "../../src/queue/liveSettings.ts";
import { openSqliteJobStore } from "../../src/queue/sqlite/sqliteJobStore.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const QUEUE = "bake";

/** Two shards, with the queue on both; `down` are shards that do not answer. */
async function openWorld(options: { readonly queue?: string | null } = {}) {
	const folder = temporaryFolder();
	const sqlite = openSqliteJobStore({
		queues: [{ range: [0, 1], primary: `sqlite:${folder.path}` }],
	});
	await sqlite.createTables();
	const down = new Set<number>();
	const store = failing(sqlite, down);
	const settings = await LiveSettings.open(store, 60_000);
	const calls = createQueueCalls(store, settings);
	if (options.queue !== null) await calls.createQueue(QUEUE);
	return {
		store,
		settings,
		calls,
		down,
		/** Enqueues jobs with these bodies, each due later than the one before, on the shards in turn. */
		async add(bodies: readonly string[], rest: Partial<NewJob> = {}) {
			let last = await store.now(0);
			for (const [index, body] of bodies.entries()) {
				// A time in the past is now, and SQLite's clock has milliseconds.
				while ((await store.now(0)) === last) await sleep(1);
				const now = await store.now(0);
				const job: NewJob = {
					local: newLocalId(),
					bucket: bucketOf(now, now),
					priority: 2,
					due: now,
					allowed: 1,
					createdAt: now,
					key: null,
					body,
					...rest,
				};
				await store.enqueue({ queue: QUEUE, shard: index % 2 }, [job]);
				last = await store.now(0);
			}
		},
		async [Symbol.asyncDispose]() {
			await settings[Symbol.asyncDispose]();
			await sqlite[Symbol.asyncDispose]();
			folder[Symbol.dispose]();
		},
	};
}

/** Calls of a shard that is down fail as those of a host that does not answer. */
function failing(
	store: JobStore & JobAdmin,
	down: ReadonlySet<number>,
): JobStore & JobAdmin {
	const check = (shard: number) => {
		if (!down.has(shard)) return;
		throw new CorkboardError("UNAVAILABLE", "No answer in time.");
	};
	return new Proxy(store, {
		get(target, name) {
			const value = Reflect.get(target, name, target);
			if (typeof value !== "function") return value;
			return async (first: unknown, ...rest: unknown[]) => {
				const place = first as { shard?: number } | number | undefined;
				if (typeof place === "number") check(place);
				else if (place?.shard !== undefined) check(place.shard);
				return value.call(target, first, ...rest);
			};
		},
	});
}

const BODIES = Array.from({ length: 7 }, (_, n) => `{"loaf":${n}}`);

describe("scan", () => {
	test("prints each job once, in order over all shards, page by page, whatever comes and goes", async () => {
		await using world = await openWorld();
		await world.add(BODIES);
		await world.add(['{"first":1}'], { priority: 1 });
		const seen: string[] = [];
		let after: string | undefined;
		for (let pages = 0; ; pages++) {
			const page = await world.calls.scan(
				QUEUE,
				{ state: "pending" },
				{ limit: 3, body: true, ...(after !== undefined && { after }) },
			);
			seen.push(...page.jobs.map(({ body }) => String(body)));
			if (page.next === null) break;
			after = page.next;
			// One that was printed goes, and a later one comes.
			if (pages === 0) {
				const [gone] = page.jobs;
				assert.ok(gone);
				await world.store.change({ queue: QUEUE, shard: gone.shard }, [gone], {
					kind: "remove",
				});
				await world.add(['{"last":1}']);
			}
		}
		assert.deepEqual(seen, ['{"first":1}', ...BODIES, '{"last":1}']);
	});

	test("finds what matches in the body, and by priority and time", async () => {
		await using world = await openWorld();
		await world.add(BODIES);
		await world.add(["other"], { priority: 3 });
		const bodies = async (
			filter: Omit<Parameters<typeof world.calls.scan>[1], "state">,
			limit = 100,
		) => {
			const page = await world.calls.scan(
				QUEUE,
				{ state: "pending", ...filter },
				{ limit, body: true },
			);
			return page.jobs.map(({ body }) => body);
		};
		const { jobs } = await world.calls.scan(
			QUEUE,
			{ state: "pending" },
			{ limit: 100 },
		);
		const at = (index: number) => jobs[index]?.at ?? 0;
		assert.deepEqual(await bodies({ matching: '"loaf":4' }), ['{"loaf":4}']);
		assert.deepEqual(await bodies({ matching: "%" }), []);
		assert.deepEqual(await bodies({ priority: 3 }), ["other"]);
		assert.deepEqual(
			await bodies({ priority: 2, until: at(2) }),
			BODIES.slice(0, 2),
		);
		assert.deepEqual(
			await bodies({ priority: 2, from: at(5) }),
			BODIES.slice(5),
		);
		await assert.rejects(
			world.calls.scan(QUEUE, { state: "pending" }, { limit: 1, after: "x" }),
			{ code: "BAD_USER_INPUT" },
		);
	});

	test("leaves out a shard that does not answer, and says so", async () => {
		await using world = await openWorld();
		await world.add(BODIES);
		world.down.add(1);
		const page = await world.calls.scan(
			QUEUE,
			{ state: "pending" },
			{ limit: 100, body: true },
		);
		assert.deepEqual([...page.failures.keys()], [1]);
		assert.deepEqual(
			page.jobs.map(({ body }) => body),
			BODIES.filter((_, n) => n % 2 === 0),
		);
	});
});

describe("failed jobs", () => {
	test("are retried with further attempts, the oldest first, and a dry run changes nothing", async () => {
		await using world = await openWorld();
		const { calls } = world;
		await world.add(BODIES);
		await giveUpAll(world);
		const dry = await calls.retryFailed(QUEUE, { dryRun: true });
		assert.deepEqual([dry.found.length, dry.changed], [7, 0]);
		const some = await calls.retryFailed(QUEUE, { limit: 2, attempts: 3 });
		assert.deepEqual([some.changed, some.hasMore], [2, true]);
		const { claimed } = await calls.claim(QUEUE, {});
		assert.equal(claimed.length, 2);
		for (const { attempts, allowed } of claimed) {
			assert.deepEqual([attempts, allowed], [2, 4]);
		}
		const rest = await calls.retryFailed(QUEUE, {
			matching: '"loaf":5',
			dueInMs: 60_000,
		});
		assert.equal(rest.changed, 1);
		const [later] = (
			await calls.scan(QUEUE, { state: "pending" }, { limit: 9, body: true })
		).jobs;
		assert.equal(later?.body, '{"loaf":5}');
		const now = await world.store.now(0);
		const dueIn = (later?.at ?? 0) - now;
		assert.ok(dueIn > 0 && dueIn <= 60_000_000, String(dueIn));
	});

	test("are removed, and running ones are not", async () => {
		await using world = await openWorld();
		const { calls } = world;
		await world.add(BODIES);
		await giveUpAll(world);
		await calls.retryFailed(QUEUE, { limit: 1 });
		await calls.claim(QUEUE, {});
		const dry = await calls.remove(QUEUE, { state: "failed", dryRun: true });
		assert.deepEqual([dry.found.length, dry.changed], [6, 0]);
		const gone = await calls.remove(QUEUE, { state: "failed" });
		assert.equal(gone.changed, 6);
		for (const state of ["pending", "succeeded", "failed"] as const) {
			assert.equal((await calls.remove(QUEUE, { state })).changed, 0);
		}
		assert.deepEqual(await calls.count(QUEUE, { state: "running" }), {
			jobs: 1,
			isCapped: false,
		});
	});
});

describe("claims of other programs", () => {
	test("take the first priority of all shards first, and carry what is said of earlier jobs", async () => {
		await using world = await openWorld();
		const { calls } = world;
		await world.add(["a", "b"], { priority: 3 });
		await world.add(["c", "d"], { priority: 1 });
		const preview = await calls.claim(QUEUE, { dryRun: true });
		assert.deepEqual(
			preview.claimed.map(({ body }) => body),
			["c", "d", "a", "b"],
		);
		const first = await calls.claim(QUEUE, { limit: 3 });
		assert.deepEqual(
			first.claimed.map(({ body }) => body),
			["c", "d", "a"],
		);
		const acks = first.claimed.map((job) => ({
			shard: job.shard,
			ack: { ...job, kind: "succeed" } as Ack,
		}));
		const second = await calls.claim(QUEUE, { acks });
		assert.deepEqual(second.acked, ["done", "done", "done"]);
		assert.deepEqual(
			second.claimed.map(({ body }) => body),
			["b"],
		);
		const { stats } = await calls.stats(QUEUE);
		assert.deepEqual(
			[stats.succeeded.jobs, stats.running.jobs, stats.oldestDueMs],
			[3, 1, null],
		);
		// Said again it is done again; of another claim it is lost.
		const [job] = second.claimed;
		assert.ok(job);
		const say = (claim: number) =>
			calls.ack(QUEUE, [
				{ shard: job.shard, ack: { ...job, claim, kind: "succeed" } },
			]);
		assert.deepEqual(await say(job.claim + 1), ["lost"]);
		assert.deepEqual(await say(job.claim), ["done"]);
		assert.deepEqual(await say(job.claim), ["done"]);
	});

	test("find nothing in a paused queue, and what is due when it is resumed", async () => {
		await using world = await openWorld();
		const { calls } = world;
		await world.add(["a"]);
		await calls.changeSettings(QUEUE, ["paused=true"]);
		assert.deepEqual((await calls.claim(QUEUE)).claimed, []);
		await calls.changeSettings(QUEUE, ["paused=default"]);
		assert.equal((await calls.claim(QUEUE)).claimed.length, 1);
	});

	test("are looked up by their ids, in order", async () => {
		await using world = await openWorld();
		await world.add(["a", "b"]);
		const { claimed } = await world.calls.claim(QUEUE);
		const ids = claimed.map(({ id }) => id);
		const gone =
			ids[0]?.replace(/.$/, (last) => (last === "0" ? "1" : "0")) ?? "";
		const found = await world.calls.lookup([...ids, gone], { body: true });
		assert.deepEqual(
			found.map((job) => job?.body ?? null),
			[claimed[0]?.body, claimed[1]?.body, null],
		);
		await assert.rejects(world.calls.lookup(["1"]), { code: "BAD_USER_INPUT" });
	});
});

describe("a queue", () => {
	test("is created on the shards that lack it, however often", async () => {
		await using world = await openWorld({ queue: null });
		const { calls, down } = world;
		down.add(1);
		await assert.rejects(calls.createQueue(QUEUE, ["attempts=5"]), {
			code: "UNAVAILABLE",
			message: /shard 1: No answer in time\. Run it again\.$/,
		});
		down.clear();
		const before = (await calls.queues()).queues[0];
		assert.deepEqual(before?.missingOn, [1]);
		assert.equal(await calls.createQueue(QUEUE), true);
		assert.equal(await calls.createQueue(QUEUE, ["attempts=5"]), false);
		const after = (await calls.queues()).queues[0];
		assert.deepEqual(after?.missingOn, []);
		assert.equal(after?.settings.attempts, 5);
		await assert.rejects(calls.createQueue(QUEUE, ["attempts=6"]), {
			code: "CONFLICT",
		});
		await assert.rejects(calls.createQueue("no-name"), {
			code: "BAD_USER_INPUT",
		});
		await assert.rejects(calls.createQueue("other", ["maxRunning=1"]), {
			message: /at least 2, one for each shard/,
		});
	});

	test("works by its newest settings, also while a shard has older ones or is away", async () => {
		await using world = await openWorld();
		const { calls, settings, down } = world;
		down.add(0);
		const change = await calls.changeSettings(QUEUE, ["maxJobsPerSecond=4"]);
		assert.deepEqual([...change.failures.keys()], [0]);
		down.clear();
		await settings.refresh();
		assert.equal(settings.settingsOf(QUEUE)?.maxJobsPerSecond, 4);
		assert.deepEqual((await calls.queues()).queues[0]?.olderOn, [0]);
		assert.equal(settings.limit({ queue: QUEUE, shard: 0 })?.perSecond, 2);
		down.add(1);
		await settings.refresh();
		assert.equal(settings.settingsOf(QUEUE)?.maxJobsPerSecond, 4);
		down.clear();
		const next = await calls.changeSettings(QUEUE, ["burst=3"]);
		assert.deepEqual(next.failures.size, 0);
		assert.deepEqual((await calls.queues()).queues[0]?.olderOn, []);
		await assert.rejects(calls.changeSettings("none", ["burst=3"]), {
			code: "NOT_FOUND",
			message: /Queues: bake\.$/,
		});
	});

	test("is not deleted with jobs that wait unless that is forced, and not in part for good", async () => {
		await using world = await openWorld();
		const { calls, settings, down } = world;
		await world.add(["a"]);
		await assert.rejects(calls.deleteQueue(QUEUE), { code: "CONFLICT" });
		down.add(1);
		await assert.rejects(calls.deleteQueue(QUEUE, { force: true }), {
			code: "UNAVAILABLE",
		});
		// Nothing is gone before every shard knows that it goes.
		down.clear();
		assert.equal((await calls.count(QUEUE, { state: "pending" })).jobs, 1);
		await failDropOnce(world.store, 1, async () => {
			await assert.rejects(calls.deleteQueue(QUEUE, { force: true }), {
				code: "UNAVAILABLE",
				message: /deleted in part/,
			});
		});
		await settings.refresh();
		assert.equal(settings.settingsOf(QUEUE), null);
		assert.ok(settings.isStopped(QUEUE));
		assert.equal((await calls.queues()).queues[0]?.state, "deleting");
		await assert.rejects(calls.createQueue(QUEUE), { code: "CONFLICT" });
		await assert.rejects(calls.changeSettings(QUEUE, ["burst=2"]), {
			code: "CONFLICT",
		});
		await calls.deleteQueue(QUEUE, { force: true });
		assert.deepEqual((await calls.queues()).queues, []);
		assert.equal(await calls.createQueue(QUEUE), true);
		assert.equal((await calls.count(QUEUE, { state: "pending" })).jobs, 0);
	});

	test("stays full while a shard does not say in time how full it is", async () => {
		await using world = await openWorld();
		const { calls, settings, store, down } = world;
		await calls.changeSettings(QUEUE, ["maxPending=3"]);
		await world.add(["a", "b", "c"]);
		const bounds = new QueueBounds(store, settings);
		await assert.rejects(bounds.check(QUEUE, ["d"]), { code: "QUEUE_FULL" });
		down.add(0).add(1);
		// It counts again once a second.
		const { now } = performance;
		performance.now = () => now.call(performance) + 60_000;
		try {
			await assert.rejects(bounds.check(QUEUE, ["d"]), { code: "QUEUE_FULL" });
		} finally {
			performance.now = now;
		}
	});

	test("refuses jobs beyond maxPending and bodies beyond maxBody, and takes them again when there is room", async () => {
		await using world = await openWorld();
		const { calls, settings, store } = world;
		await calls.changeSettings(QUEUE, ["maxPending=3", "maxBody=10"]);
		await world.add(["a", "b"]);
		const bounds = new QueueBounds(store, settings);
		await bounds.check(QUEUE, ["c"]);
		bounds.added(QUEUE, 1);
		await assert.rejects(bounds.check(QUEUE, ["d"]), { code: "QUEUE_FULL" });
		await assert.rejects(bounds.check(QUEUE, ["more than ten"]), {
			code: "BAD_USER_INPUT",
			message: /at most 10 bytes \(maxBody\), got 13/,
		});
		await calls.changeSettings(QUEUE, ["maxPending=default"]);
		await bounds.check(QUEUE, ["d"]);
	});
});

type World = Awaited<ReturnType<typeof openWorld>>;

async function giveUpAll({ calls }: World): Promise<void> {
	const { claimed } = await calls.claim(QUEUE, { limit: 500 });
	const acks = claimed.map((job) => ({
		shard: job.shard,
		ack: { ...job, kind: "giveUp" } as Ack,
	}));
	await calls.ack(QUEUE, acks);
}

/** A drop on this shard fails while `work` runs. */
async function failDropOnce(
	store: JobStore & JobAdmin,
	shard: number,
	work: () => Promise<void>,
): Promise<void> {
	const rows: readonly QueueRow[] = await store.queues(shard);
	assert.ok(rows.length > 0);
	const { drop } = store;
	store.drop = async (at) => {
		if (at.shard !== shard) return drop(at);
		throw new CorkboardError("UNAVAILABLE", "No answer in time.");
	};
	try {
		await work();
	} finally {
		store.drop = drop;
	}
}
