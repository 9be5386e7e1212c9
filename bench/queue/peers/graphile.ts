import { Logger, makeWorkerUtils, run, runMigrations } from "graphile-worker";
import type {
	BenchJob,
	Handler,
	Producer,
	QueueSystem,
	QueueTarget,
} from "../queueSystem.ts";
import { holdSnapshot, logBytes, runSql } from "./postgres.ts";

/** As in the benchmark of graphile-worker itself. */
const CONCURRENCY = 24;
const LOCAL_QUEUE = 500;
const BATCH = 500;

const logger = new Logger(() => () => {});

async function prepare({ url }: QueueTarget): Promise<void> {
	await runSql(url, "DROP SCHEMA IF EXISTS graphile_worker CASCADE");
	await runMigrations({ connectionString: url, logger });
}

async function openProducer({ url }: QueueTarget): Promise<Producer> {
	const utils = await makeWorkerUtils({ connectionString: url, logger });
	return {
		async enqueue(queue, jobs, { delayMs, priority } = {}) {
			const options = {
				...(delayMs !== undefined && { runAt: new Date(Date.now() + delayMs) }),
				...(priority !== undefined && { priority }),
			};
			const [first] = jobs;
			if (jobs.length === 1 && first !== undefined) {
				await utils.addJob(queue, first, options);
				return;
			}
			for (let at = 0; at < jobs.length; at += BATCH) {
				const batch = jobs.slice(at, at + BATCH);
				await utils.addJobs(
					batch.map((payload) => ({ identifier: queue, payload, ...options })),
				);
			}
		},
		[Symbol.asyncDispose]: async () => {
			await utils.release();
		},
	};
}

async function startWorker(
	{ url, queues, isBatched }: QueueTarget,
	handle: Handler,
): Promise<AsyncDisposable> {
	const task = (payload: unknown) => handle(payload as BenchJob);
	const runner = await run({
		taskList: Object.fromEntries(queues.map((queue) => [queue, task])),
		preset: {
			worker: {
				connectionString: url,
				concurrentJobs: CONCURRENCY,
				maxPoolSize: CONCURRENCY + 2,
				logger,
				...(isBatched && {
					localQueue: { size: LOCAL_QUEUE },
					completeJobBatchDelay: 0,
					failJobBatchDelay: 0,
				}),
			},
		},
		noHandleSignals: true,
	});
	return { [Symbol.asyncDispose]: () => runner.stop() };
}

async function fill(
	target: QueueTarget,
	count: number,
	{ first, delayMs = 0, priority = 2 }: Parameters<QueueSystem["fill"]>[2],
): Promise<void> {
	const { url, queues } = target;
	await runSql(
		url,
		`INSERT INTO graphile_worker._private_tasks (identifier) VALUES ($1)
			ON CONFLICT DO NOTHING`,
		[queues[0]],
	);
	await runSql(
		url,
		`INSERT INTO graphile_worker._private_jobs (task_id, payload, run_at, priority, max_attempts)
			SELECT task.id, json_build_object('n', n, 'pad', ''), now() + $1 * interval '1 ms', $2, 25
			FROM generate_series($3::bigint, $4::bigint) AS n,
				graphile_worker._private_tasks AS task WHERE task.identifier = $5`,
		[delayMs, priority, first, first + count - 1, queues[0]],
	);
	await runSql(url, "ANALYZE graphile_worker._private_jobs");
}

export default {
	prepare,
	openProducer,
	startWorker,
	fill,
	logBytes,
	holdSnapshot,
} satisfies QueueSystem;
