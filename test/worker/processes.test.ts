import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { RedisConnections } from "../../src/cache/redis/redisConnections.ts";
import { Jobs } from "../../src/queue/enqueue/jobs.ts";
import { LocalHints } from "../../src/queue/hints.ts";
import { parseJobId } from "../../src/queue/jobId.ts";
import { openJobStoreOf } from "../../src/queue/openJobStore.ts";
import { openJobs } from "../../src/queue/openJobs.ts";
import { openRedisHints } from "../../src/queue/redisHints.ts";
import { checkTopology } from "../../src/topology/check.ts";
import type { WorkerLimits } from "../../src/worker/limits.ts";
import { trial as slow } from "../attack/queue/trialJobs.ts";
import { startProgram } from "../helpers/program.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { startServices } from "../services/startServices.ts";
import type { ChildOptions } from "./child.ts";
import { type Report, trial } from "./trialKind.ts";

const services = await startServices({ mysql: 1, redis: 1 });
const opened = new AsyncDisposableStack();
opened.use(services);
after(() => opened.disposeAsync());
const url = services.mysql[0]?.url as string;
const redis = services.redis[0];
const topology = checkTopology({
	version: 1,
	shards: [{ range: [0, 0], primary: url, open: true }],
	lookups: [{ range: [0, 0], primary: url }],
	queues: [{ range: [0, 1], primary: url }],
});

/** Short, so that claims of the dead come back soon. */
const LIMITS: Partial<WorkerLimits> = { expireMs: 300, expirePastMs: 1_000 };

interface Child extends AsyncDisposable {
	readonly process: ChildProcess;
	readonly reports: readonly Report[];
	has(kind: Report["kind"], n: number): boolean;
}

async function startChild(
	change: Partial<ChildOptions> & { limits?: Partial<WorkerLimits> } = {},
): Promise<Child> {
	const options: ChildOptions = {
		topology,
		redis: null,
		concurrency: 4,
		...change,
		limits: { ...LIMITS, ...change.limits },
	};
	const reports: Report[] = [];
	const child = fork(`${import.meta.dirname}/child.ts`, [
		JSON.stringify(options),
	]);
	const ready = Promise.withResolvers<void>();
	child.on("message", (message: Report | string) => {
		if (typeof message !== "string") reports.push(message);
		else if (message === "ready") ready.resolve();
	});
	child.on("exit", () => ready.reject(new Error("the worker has ended")));
	await ready.promise;
	return {
		process: child,
		reports,
		has: (kind, n) => reports.some((one) => one.kind === kind && one.n === n),
		async [Symbol.asyncDispose]() {
			if (child.exitCode !== null || child.signalCode !== null) return;
			child.kill("SIGKILL");
			await once(child, "exit");
		},
	};
}

/** A producer, with a queue that is empty. */
async function openProducer(redisUrl: string | null = null) {
	const own = new AsyncDisposableStack();
	const jobs = await openJobs(
		{
			topology,
			redis: redisUrl === null ? null : new RedisConnections(redisUrl),
			queues: [],
		},
		own,
	);
	if (jobs === null) throw new Error("expected queues");
	const { store } = jobs;
	await store.createTables();
	for (const shard of store.shards) {
		await store.drop({ queue: "trial", shard });
		await store.put(shard, { name: "trial", settings: {}, version: 1 });
	}
	const find = async (id: string) => {
		const parsed = parseJobId(id);
		if (parsed === null) throw new TypeError(`no id: ${id}`);
		return (await store.find(parsed, [parsed]))[0] ?? null;
	};
	return {
		jobs: jobs.jobs,
		find,
		succeeded: (ids: readonly string[]) =>
			until("all jobs succeeded", async () => {
				const found = await Promise.all(ids.map(find));
				return found.every((one) => one?.state === "succeeded");
			}),
		[Symbol.asyncDispose]: () => own.disposeAsync(),
	};
}

if (redis === undefined) throw new Error("expected a Redis");
const producer = opened.use(await openProducer(redis.url));
const first = opened.use(await startChild({ redis: redis.url }));
const second = opened.use(await startChild({ redis: redis.url }));
const enqueue = async (n: number, body: { ms: number; how?: "blocks" }) =>
	(await producer.jobs.enqueue(trial, { n, ...body })).id;
const numbers = (from: number, to: number) =>
	Array.from({ length: to - from }, (_, index) => from + index);

describe("worker processes on MySQL", () => {
	test("run every job", async () => {
		const ids = await Promise.all(
			numbers(0, 40).map((n) => enqueue(n, { ms: 1 })),
		);
		await producer.succeeded(ids);
		const starts = [...first.reports, ...second.reports].filter(
			({ kind }) => kind === "started",
		);
		assert.equal(new Set(starts.map(({ n }) => n)).size, 40);
	});

	test("report nothing for a job they lost while they were stopped, and abort its signal", async () => {
		second.process.kill("SIGSTOP");
		const id = await enqueue(100, { ms: 600_000 });
		await until("a start", () => first.has("started", 100));
		first.process.kill("SIGSTOP");
		second.process.kill("SIGCONT");
		await until("a second start", () => second.has("started", 100));
		first.process.kill("SIGCONT");
		await until("an abort", () => first.has("aborted", 100));
		await producer.succeeded([id]);
		assert.equal(first.has("ended", 100), false);
		assert.ok(((await producer.find(id))?.attempts ?? 0) >= 2);
	});

	test("keep jobs that keep their event loop busy, and lose them after `maxBlockMs`", async () => {
		await using blocked = await startChild({ limits: { maxBlockMs: 7_000 } });
		// Both others hold still, so that it claims.
		first.process.kill("SIGSTOP");
		second.process.kill("SIGSTOP");
		const id = await enqueue(200, { ms: 600_000, how: "blocks" });
		const find = async () => await producer.find(id);
		await until("a claim", async () => (await find())?.state === "running");
		const until_ = (await find())?.at ?? 0;
		second.process.kill("SIGCONT");
		first.process.kill("SIGCONT");
		await until("a renewal", async () => ((await find())?.at ?? 0) > until_);
		assert.equal((await find())?.attempts, 1);
		await producer.succeeded([id]);
		assert.ok(((await find())?.attempts ?? 0) >= 2);
		assert.equal(blocked.process.exitCode, null);
	});

	test("end in time though a handler answers its signal with a busy event loop, and lose no job", async () => {
		first.process.kill("SIGSTOP");
		second.process.kill("SIGSTOP");
		await using draining = await startChild({
			limits: { drainMs: 500, abortMs: 300, releaseMs: 300 },
		});
		const { id } = await producer.jobs.enqueue(trial, {
			n: 300,
			ms: 10_000,
			how: "blocksAtAbort",
		});
		await until("a start", () => draining.has("started", 300));
		draining.process.kill("SIGTERM");
		await once(draining.process, "exit");
		assert.equal(draining.process.signalCode, "SIGKILL");
		first.process.kill("SIGCONT");
		second.process.kill("SIGCONT");
		await producer.succeeded([id]);
	});

	test("run what a killed one had begun once its claims have ended", async () => {
		// So that the first has all of them.
		second.process.kill("SIGSTOP");
		const all = numbers(400, 404);
		const ids = await Promise.all(all.map((n) => enqueue(n, { ms: 600_000 })));
		const begun = () =>
			first.reports.filter(({ kind, n }) => kind === "started" && n >= 400);
		// What it had not begun, the second would run for the first time.
		await until("all starts", () => begun().length === all.length);
		first.process.kill("SIGKILL");
		second.process.kill("SIGCONT");
		await producer.succeeded(ids);
		for (const { n, at } of begun()) {
			const again = second.reports.find(
				(one) => one.kind === "started" && one.n === n,
			);
			assert.ok((again?.attempt ?? 0) >= 2);
			// Nobody ends a claim of 4 s before its time; it was made up to a second before the start.
			assert.ok((again?.at ?? 0) - at >= 2_800);
		}
	});

	test("leave probing only to one that serves the same queues", async () => {
		await using connections = new AsyncDisposableStack();
		const [one, other] = [1, 2].map(() =>
			connections.use(
				openRedisHints({
					redis: new RedisConnections(redis.url),
					onHint() {},
				}),
			),
		);
		const probe = { name: "probe", ms: 60_000 };
		assert.equal(await one?.leads(["a", "b"], probe), true);
		await until(
			"another one follows",
			async () => (await other?.leads(["b", "a"], probe)) === false,
		);
		assert.equal(await other?.leads(["b"], probe), true);
		const expiry = { name: "expiry", ms: 60_000 };
		assert.equal(await other?.leads(["a", "b"], expiry), true);
	});

	test("go on when Redis is gone", async () => {
		redis.kill("SIGKILL");
		const ids = await Promise.all(
			numbers(500, 520).map((n) => enqueue(n, { ms: 1 })),
		);
		await producer.succeeded(ids);
	});
});

test("a second SIGTERM ends `corkboard worker` at once, with a job that still runs", async () => {
	using folder = temporaryFolder();
	const source = {
		queues: [{ range: [0, 0] as const, primary: `sqlite:${folder.path}` }],
	};
	{
		await using store = openJobStoreOf(source);
		await store.createTables();
		await store.put(0, { name: "trial", settings: {}, version: 0 });
		await new Jobs(store, new LocalHints(), null).enqueue(slow, {
			n: 1,
			ms: 600_000,
			how: "waits",
		});
	}
	const notes = join(folder.path, "notes");
	writeFileSync(notes, "");
	await using worker = startProgram(["worker", "--queues", "trial"], {
		command: [
			process.execPath,
			"--import",
			join(import.meta.dirname, "../attack/queue/compressed.ts"),
			join(import.meta.dirname, "../../src/cli/launch.mjs"),
		],
		env: {
			CORKBOARD_DATA: folder.path,
			CORKBOARD_LOG: "info,json",
			QUEUE_ATTACK_NOTES: notes,
		},
	});
	const { ended } = worker;
	await Promise.race([
		ended.then(({ err }) => assert.fail(err)),
		until("a start", () => readFileSync(notes, "utf8").includes('"start"')),
	]);
	worker.send("SIGTERM");
	await worker.printed("out", /stopping/);
	// Until then a second one is taken for the first, as a terminal's.
	await sleep(1_100);
	worker.send("SIGTERM");
	assert.equal((await ended).code, 143);
	assert.doesNotMatch(readFileSync(notes, "utf8"), /"stop"/);
});
