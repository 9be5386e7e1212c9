import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import type {
	BenchJob,
	Handler,
	LogBytes,
	Producer,
	QueueSystem,
	QueueTarget,
} from "../queueSystem.ts";

const BATCH = 500;
const CONCURRENCY = 200;
/** Jobs that have ended: as many as are asked about, the others leave memory. */
const KEPT = { removeOnComplete: { age: 86_400 } };

function connect({ url }: QueueTarget): Redis {
	return new Redis(url, { maxRetriesPerRequest: null });
}

async function prepare(target: QueueTarget): Promise<void> {
	const redis = connect(target);
	await redis.flushall();
	await redis.quit();
}

async function openProducer(target: QueueTarget): Promise<Producer> {
	const connection = connect(target);
	const queues = new Map(
		target.queues.map((name) => [
			name,
			new Queue(name, { connection, defaultJobOptions: KEPT }),
		]),
	);
	return {
		async enqueue(name, jobs, { delayMs, priority } = {}) {
			const queue = queues.get(name);
			if (queue === undefined) throw new Error(`There is no queue ${name}.`);
			const opts = {
				...(delayMs !== undefined && { delay: delayMs }),
				...(priority !== undefined && { priority }),
			};
			const [first] = jobs;
			if (jobs.length === 1 && first !== undefined) {
				await queue.add("job", first, opts);
				return;
			}
			for (let at = 0; at < jobs.length; at += BATCH) {
				await queue.addBulk(
					jobs
						.slice(at, at + BATCH)
						.map((data) => ({ name: "job", data, opts })),
				);
			}
		},
		async [Symbol.asyncDispose]() {
			await Promise.all([...queues.values()].map((queue) => queue.close()));
			await connection.quit();
		},
	};
}

async function startWorker(
	target: QueueTarget,
	handle: Handler,
): Promise<AsyncDisposable> {
	const connection = connect(target);
	const workers = target.queues.map(
		(name) =>
			new Worker<BenchJob>(name, async ({ data }) => handle(data), {
				connection,
				concurrency: CONCURRENCY,
			}),
	);
	for (const worker of workers) worker.on("error", () => {});
	return {
		async [Symbol.asyncDispose]() {
			await Promise.all(workers.map((worker) => worker.close()));
			await connection.quit();
		},
	};
}

async function logBytes(target: QueueTarget): Promise<LogBytes> {
	const redis = connect(target);
	const info = await redis.info("persistence");
	await redis.quit();
	const [, bytes = "0"] = /aof_current_size:(\d+)/.exec(info) ?? [];
	return { log: Number(bytes), binlog: 0 };
}

async function fill(
	target: QueueTarget,
	count: number,
	{ first, ...options }: Parameters<QueueSystem["fill"]>[2],
): Promise<void> {
	await using producer = await openProducer(target);
	const [queue = ""] = target.queues;
	for (let at = 0; at < count; at += BATCH) {
		const jobs = Array.from(
			{ length: Math.min(BATCH, count - at) },
			(_, n) => ({
				n: first + at + n,
				pad: "",
			}),
		);
		await producer.enqueue(queue, jobs, options);
	}
}

export default {
	prepare,
	openProducer,
	startWorker,
	fill,
	logBytes,
} satisfies QueueSystem;
