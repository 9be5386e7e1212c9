import type {
	EntryJob,
	JobQueue,
	WantedJob,
} from "../../src/graph/store/jobQueue.ts";
import type { AnyJob } from "../../src/queue/job.ts";
import { newLocalId } from "../../src/queue/jobId.ts";

/** A queue in memory that writes enqueue into; `run` runs what is in it. */
export class MemoryQueue implements JobQueue {
	/** By local id. */
	readonly jobs = new Map<string, EntryJob>();
	/** Ids whose enqueue was asked for, also again. */
	readonly enqueued: string[] = [];
	/** Thrown by `enqueue`. */
	failure: Error | null = null;

	async prepare() {
		return (wanted: WantedJob) => {
			const now = Date.now();
			const { dueMs = now, priority = 2, key = null, ...job } = wanted;
			return {
				...job,
				shard: 0,
				local: newLocalId(),
				bucket: Math.floor(now / 3_600_000),
				priority,
				due: dueMs * 1_000,
				createdAt: now * 1_000,
				key,
			};
		};
	}

	async enqueue(jobs: readonly EntryJob[], _isRepeat: boolean) {
		if (this.failure !== null) throw this.failure;
		for (const job of jobs) {
			this.enqueued.push(job.local);
			if (!this.jobs.has(job.local)) this.jobs.set(job.local, job);
		}
		return jobs.map(() => null);
	}

	hostOf(): string {
		return "memory";
	}

	/** Runs the jobs of one kind, due or not, and those that they enqueue, until none is left. A job whose handler throws stays, at its last checkpoint. */
	async run<Context>(
		kind: AnyJob<Context>,
		context: Context,
		afterCheckpoint: () => Promise<void> = async () => {},
	): Promise<number> {
		let ran = 0;
		for (;;) {
			const next = [...this.jobs.values()].find(
				({ queue }) => queue === kind.queue,
			);
			if (next === undefined) return ran;
			await kind.start(
				{
					id: next.local,
					body: next.body,
					attempt: 1,
					allowed: next.allowed,
					signal: new AbortController().signal,
					checkpoint: async ({ body }) => {
						if (body !== undefined) {
							this.jobs.set(next.local, { ...next, body });
						}
						await afterCheckpoint();
					},
				},
				context,
			);
			this.jobs.delete(next.local);
			ran += 1;
		}
	}
}
