import { PgBoss } from "pg-boss";
import type {
	BenchJob,
	Handler,
	Producer,
	QueueSystem,
	QueueTarget,
} from "../queueSystem.ts";
import { holdSnapshot, logBytes, runSql } from "./postgres.ts";

const BATCH = 500;
const CONCURRENCY = 24;

function open({ url }: QueueTarget): PgBoss {
	const boss = new PgBoss({
		connectionString: url,
		max: CONCURRENCY + 2,
		useListenNotify: true,
		// So that workers that take one job at a time see soon that there are many.
		superviseIntervalSeconds: 1,
		monitorIntervalSeconds: 1,
		queueCacheIntervalSeconds: 1,
	});
	boss.on("error", () => {});
	return boss;
}

async function prepare(target: QueueTarget): Promise<void> {
	await runSql(target.url, "DROP SCHEMA IF EXISTS pgboss CASCADE");
	const boss = open(target);
	await boss.start();
	for (const queue of target.queues) {
		await boss.createQueue(queue, { notify: true });
	}
	await boss.stop({ graceful: false });
}

/** Theirs is greatest first. */
const priorityOf = (priority: number) => 10 - priority;

async function openProducer(target: QueueTarget): Promise<Producer> {
	const boss = open(target);
	await boss.start();
	return {
		async enqueue(queue, jobs, { delayMs, priority } = {}) {
			const options = {
				...(delayMs !== undefined && { startAfter: delayMs / 1_000 }),
				...(priority !== undefined && { priority: priorityOf(priority) }),
			};
			const [first] = jobs;
			if (jobs.length === 1 && first !== undefined) {
				await boss.send(queue, first, options);
				return;
			}
			for (let at = 0; at < jobs.length; at += BATCH) {
				await boss.insert(
					queue,
					jobs.slice(at, at + BATCH).map((data) => ({ data, ...options })),
				);
			}
		},
		[Symbol.asyncDispose]: () => boss.stop({ graceful: false }),
	};
}

async function startWorker(
	target: QueueTarget,
	handle: Handler,
): Promise<AsyncDisposable> {
	const boss = open(target);
	await boss.start();
	for (const queue of target.queues) {
		await boss.work<BenchJob>(
			queue,
			{
				pollingIntervalSeconds: 0.5,
				...(target.isBatched
					? { batchSize: BATCH, burstWhenBatchFull: true }
					: {
							batchSize: 1,
							localConcurrency: CONCURRENCY,
							burstWhenReadyExceeds: 1,
						}),
			},
			async (jobs) => {
				for (const { data } of jobs) handle(data);
			},
		);
	}
	return { [Symbol.asyncDispose]: () => boss.stop({ graceful: true }) };
}

async function fill(
	{ url, queues }: QueueTarget,
	count: number,
	{ first, delayMs = 0, priority = 2 }: Parameters<QueueSystem["fill"]>[2],
): Promise<void> {
	await runSql(
		url,
		`INSERT INTO pgboss.job (name, data, priority, start_after, keep_until, policy)
			SELECT $1, json_build_object('n', n, 'pad', ''), $2::int,
				now() + $3::bigint * interval '1 ms', now() + interval '14 days', 'standard'
			FROM generate_series($4::bigint, $5::bigint) AS n`,
		[queues[0], priorityOf(priority), delayMs, first, first + count - 1],
	);
	await runSql(url, "ANALYZE pgboss.job");
}

export default {
	prepare,
	openProducer,
	startWorker,
	fill,
	logBytes,
	holdSnapshot,
} satisfies QueueSystem;
