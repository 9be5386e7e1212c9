import { z } from "zod";
import { RedisConnections } from "../../../src/cache/redis/redisConnections.ts";
import { createQueue, findQueue } from "../../../src/queue/admin/queueAdmin.ts";
import { type Job, job } from "../../../src/queue/job.ts";
import { openMysqlJobStore } from "../../../src/queue/mysql/mysqlJobStore.ts";
import { openJobs } from "../../../src/queue/openJobs.ts";
import { rotate } from "../../../src/queue/rotation.ts";
import type { Topology } from "../../../src/topology/types.ts";
import { Worker } from "../../../src/worker/worker.ts";
import type {
	BenchJob,
	Handler,
	Producer,
	QueueSystem,
	QueueTarget,
} from "../queueSystem.ts";
import { holdSnapshot, logBytes } from "./mysql.ts";
import { SHARDS } from "./shards.ts";

/** As `corkboard worker --concurrency 200`. */
const CONCURRENCY = 200;
/** Jobs of one `enqueueAll`. */
const BATCH = 500;
/** The most rounds of rotation for one shard: an hour has sixty. */
const MOST_ROUNDS = 10;

const body = z.object({
	n: z.number(),
	pad: z.string(),
	blockMs: z.number().optional(),
});

function kindOf(queue: string): Job<BenchJob, Handler> {
	return job({
		queue,
		body,
		run: async ({ body }, handle: Handler) => handle(body as BenchJob),
	}) as Job<BenchJob, Handler>;
}

function topologyOf({ url }: QueueTarget): Topology {
	return {
		version: 1,
		shards: [],
		lookups: [],
		queues: [{ range: [0, SHARDS - 1], primary: url }],
	};
}

/** The queues as every process of Corkboard opens them. */
async function open(target: QueueTarget, opened: AsyncDisposableStack) {
	const redis =
		target.redis === null ? null : new RedisConnections(target.redis);
	const jobs = await openJobs(
		{ topology: topologyOf(target), redis, queues: [] },
		opened,
	);
	if (jobs === null) throw new Error("The topology has no queues.");
	return jobs;
}

function openStore(target: QueueTarget) {
	return openMysqlJobStore({
		queues: topologyOf(target).queues ?? [],
		limits: { connectMs: 30_000, readMs: 60_000, writeMs: 60_000 },
	});
}

async function prepare(target: QueueTarget): Promise<void> {
	await using store = openStore(target);
	await store.createTables();
	const settings =
		target.keepHours === undefined
			? []
			: [`keepSucceededMs=${target.keepHours}h`];
	for (const queue of target.queues) {
		for (const shard of store.shards) await store.drop({ queue, shard });
		await createQueue(store, queue, settings);
	}
}

async function openProducer(target: QueueTarget): Promise<Producer> {
	const opened = new AsyncDisposableStack();
	const { jobs } = await open(target, opened);
	const kinds = new Map(target.queues.map((name) => [name, kindOf(name)]));
	return {
		async enqueue(queue, some, options = {}) {
			const kind = kinds.get(queue);
			if (kind === undefined) throw new Error(`There is no queue ${queue}.`);
			for (let at = 0; at < some.length; at += BATCH) {
				const batch = some.slice(at, at + BATCH);
				await jobs.enqueueAll(
					kind,
					batch.map((body) => ({ ...options, body })),
				);
			}
		},
		[Symbol.asyncDispose]: () => opened.disposeAsync(),
	};
}

async function startWorker(
	target: QueueTarget,
	run: Handler,
): Promise<AsyncDisposable> {
	const opened = new AsyncDisposableStack();
	const jobs = await open(target, opened);
	opened.use(
		await Worker.start({
			...jobs,
			source: jobs.source,
			kinds: target.queues.map(kindOf),
			context: run,
			concurrency: CONCURRENCY,
		}),
	);
	return opened;
}

async function fill(
	target: QueueTarget,
	count: number,
	{ first, ...options }: Parameters<QueueSystem["fill"]>[2],
): Promise<void> {
	await using producer = await openProducer(target);
	const [queue = ""] = target.queues;
	let next = 0;
	const one = async () => {
		while (next < count) {
			const from = next;
			next = Math.min(count, from + BATCH);
			const jobs = Array.from({ length: next - from }, (_, index) => ({
				n: first + from + index,
				pad: "",
			}));
			await producer.enqueue(queue, jobs, options);
		}
	};
	await Promise.all([one(), one(), one()]);
}

/** As `corkboard queues rotate`, until a round finds nothing to give back. */
async function expire(target: QueueTarget): Promise<void> {
	await using store = openStore(target);
	for (const queue of target.queues) {
		const { settings } = await findQueue(store, queue);
		for (const shard of store.shards) {
			for (let round = 0; round < MOST_ROUNDS; round++) {
				const report = await rotate(store, { queue, shard }, settings);
				if (report.refused !== null) throw new Error(report.refused);
				if (report.bytes + report.moved + report.dropped === 0) break;
			}
		}
	}
}

export default {
	prepare,
	expire,
	openProducer,
	startWorker,
	fill,
	logBytes,
	holdSnapshot,
} satisfies QueueSystem;
