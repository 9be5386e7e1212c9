import { CorkboardError } from "../errors.ts";
import { hourOf } from "../queue/bucket.ts";
import {
	type ExpiryRange,
	type JobStore,
	MAX_JOBS,
} from "../queue/jobStore.ts";
import { monotonicMs } from "../util/monotonic.ts";
import { WORKER_CHANNELS } from "./diagnostics.ts";
import type { ShardProblems } from "./shardProblems.ts";
import type { SharedTask } from "./sharedTask.ts";
import type { WorkerQueue } from "./workerQueue.ts";
import { retryDelayMs } from "./workerQueue.ts";

interface ExpiryOptions<Context> {
	readonly store: JobStore;
	/** By name. */
	readonly queues: ReadonlyMap<string, WorkerQueue<Context>>;
	/** How often claims of past hours are looked at too. */
	readonly pastMs: number;
	readonly turns: SharedTask;
	readonly problems: ShardProblems;
}

/**
 * Makes jobs pending again whose workers have gone. One worker looks for all
 * queues and shards, with a statement per host; any worker can.
 */
export class Expiry<Context> {
	readonly #options: ExpiryOptions<Context>;
	#pastAt = monotonicMs();

	constructor(options: ExpiryOptions<Context>) {
		this.#options = options;
	}

	/** One turn, if it is this worker's. */
	async pass(): Promise<void> {
		if (!(await this.#options.turns.isMine())) return;
		const isPast = monotonicMs() - this.#pastAt >= this.#options.pastMs;
		if (isPast) this.#pastAt = monotonicMs();
		const ranges = await this.#ranges(isPast);
		const answers = await this.#options.store.hasExpired(ranges);
		for (const [index, range] of ranges.entries()) {
			const answer = answers[index];
			if (answer instanceof CorkboardError) this.#failed(range, answer);
			else if (answer === true) await this.#expire(range);
		}
	}

	/** All buckets, or those of the present and the last hour. */
	async #ranges(isPast: boolean): Promise<readonly ExpiryRange[]> {
		const { store, queues, problems } = this.#options;
		const ofShards = store.shards.map(async (shard) => {
			try {
				const hour = hourOf(await store.now(shard));
				return [...queues.keys()].map(
					(queue): ExpiryRange => ({
						at: { queue, shard },
						...(!isPast && { buckets: [hour - 1, hour] }),
					}),
				);
			} catch (error) {
				if (!(error instanceof CorkboardError)) throw error;
				problems.failed(shard, error);
				return [];
			}
		});
		return (await Promise.all(ofShards)).flat();
	}

	async #expire(range: ExpiryRange): Promise<void> {
		const { at, buckets } = range;
		const { store, queues } = this.#options;
		const { backoff } = queues.get(at.queue) as WorkerQueue<Context>;
		try {
			for (const bucket of buckets?.toReversed() ?? [undefined]) {
				const { again, failed } = await store.expire(at, {
					limit: MAX_JOBS,
					delayMs: (attempts) => retryDelayMs(attempts, backoff),
					...(bucket !== undefined && { bucket }),
				});
				if (again + failed > 0 && WORKER_CHANNELS.jobsExpired.hasSubscribers) {
					WORKER_CHANNELS.jobsExpired.publish({
						...at,
						again,
						failed,
					});
				}
			}
		} catch (error) {
			if (!(error instanceof CorkboardError)) throw error;
			this.#failed(range, error);
		}
	}

	/** A queue that does not exist there has no claims. */
	#failed({ at }: ExpiryRange, error: CorkboardError): void {
		if (error.code !== "NOT_FOUND") {
			this.#options.problems.failed(at.shard, error);
		}
	}
}
