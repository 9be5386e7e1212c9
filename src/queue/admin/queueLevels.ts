import { CorkboardError } from "../../errors.ts";
import { deadlineIn, withDeadline } from "../../util/deadline.ts";
import { QUEUE_LEVELS, type QueueLevel } from "../diagnostics.ts";
import type { CountedJobs, JobStore } from "../jobStore.ts";
import type { LiveSettings } from "../liveSettings.ts";
import { oldestDue } from "./queueStats.ts";

/** Jobs of one state and shard that are counted: with more, it is enough to know that. */
const MAX_COUNTED = 10_000;
/** Those who ask sooner get the same answer. Milliseconds. */
const FRESH_MS = 10_000;
/** Nobody waits longer for the hosts. Milliseconds. */
const DEADLINE_MS = 2_000;

/**
 * How many jobs wait, for metrics: counted at most every ten
 * seconds, one count at a time, of one queue after the other. A queue with a
 * shard that does not answer is left out, as nothing can be said of its sum.
 */
export class QueueLevels implements Disposable {
	readonly #store: JobStore;
	readonly #settings: LiveSettings;
	#known: readonly QueueLevel[] = [];
	#knownAt = Number.NEGATIVE_INFINITY;
	#counting: Promise<void> | null = null;
	#reported: Disposable | null = null;

	constructor(store: JobStore, settings: LiveSettings) {
		this.#store = store;
		this.#settings = settings;
	}

	/** From now on it answers. Processes without a worker do not: they would all count the same. */
	report(): void {
		this.#reported ??= QUEUE_LEVELS.add(() => this.levels());
	}

	/** Never rejects. What cannot be counted in time is of the count before, or absent. */
	async levels(): Promise<readonly QueueLevel[]> {
		const isFresh = () => performance.now() - this.#knownAt < FRESH_MS;
		if (!isFresh()) {
			this.#counting ??= this.#count()
				.catch(() => {})
				.finally(() => {
					this.#counting = null;
				});
			await withDeadline(this.#counting, deadlineIn(DEADLINE_MS)).catch(
				() => {},
			);
		}
		return performance.now() - this.#knownAt < 2 * FRESH_MS ? this.#known : [];
	}

	[Symbol.dispose](): void {
		this.#reported?.[Symbol.dispose]();
	}

	async #count(): Promise<void> {
		const levels: QueueLevel[] = [];
		for (const queue of this.#settings.queues) {
			try {
				levels.push(await this.#countQueue(queue));
			} catch (error) {
				if (!(error instanceof CorkboardError)) throw error;
			}
		}
		this.#known = levels;
		this.#knownAt = performance.now();
	}

	async #countQueue(queue: string): Promise<QueueLevel> {
		const sum = { ready: 0, delayed: 0, running: 0, failed: 0, oldestMs: 0 };
		for (const shard of this.#store.shards) {
			const at = { queue, shard };
			const now = await this.#store.now(shard);
			const count = (of: CountedJobs) => this.#store.count(at, of, MAX_COUNTED);
			const [ready, delayed, running, failed, oldest] = await Promise.all([
				count({ state: "pending", until: now + 1 }),
				count({ state: "pending", from: now + 1 }),
				count({ state: "running" }),
				count({ state: "failed" }),
				oldestDue(this.#store, at, now),
			]);
			sum.ready += ready;
			sum.delayed += delayed;
			sum.running += running;
			sum.failed += failed;
			sum.oldestMs = Math.max(sum.oldestMs, oldest ?? 0);
		}
		const { oldestMs, ...jobs } = sum;
		return {
			queue,
			jobs,
			oldestMs,
			isPaused: this.#settings.isStopped(queue),
		};
	}
}
