import { CorkboardError } from "../../errors.ts";
import { QUEUE_CHANNELS } from "../diagnostics.ts";
import type { JobStore } from "../jobStore.ts";
import type { LiveSettings } from "../liveSettings.ts";

/** Keeps queues within `maxPending` and `maxBody`, for the producers of a process. */
export class QueueBounds {
	readonly #store: JobStore;
	readonly #settings: LiveSettings;
	readonly #levels = new Map<string, PendingLevel>();

	constructor(store: JobStore, settings: LiveSettings) {
		this.#store = store;
		this.#settings = settings;
	}

	/**
	 * Before jobs are enqueued. Throws BAD_USER_INPUT for a body that is too large
	 * and QUEUE_FULL. Pending jobs are counted about once a second, so several
	 * producers together may go beyond `maxPending` by what they enqueue in that time.
	 */
	async check(queue: string, bodies: readonly string[]): Promise<void> {
		const settings = this.#settings.settingsOf(queue);
		// The store refuses jobs of a queue that does not exist.
		if (settings === null) return;
		const { maxBody, maxPending } = settings;
		for (const body of bodies) {
			const bytes = Buffer.byteLength(body);
			if (bytes <= maxBody) continue;
			throw new CorkboardError(
				"BAD_USER_INPUT",
				`The body of a job of ${queue} must have at most ${maxBody} bytes (maxBody), got ${bytes}. Store it elsewhere and name it in the job.`,
			);
		}
		const pending = await this.#levelOf(queue).read(maxPending);
		if (pending + bodies.length <= maxPending) return;
		QUEUE_CHANNELS.jobsRefused.publish({
			queue,
			jobs: bodies.length,
		});
		throw new CorkboardError(
			"QUEUE_FULL",
			`Queue ${queue} is full: ${pending} jobs are pending, and maxPending is ${maxPending}. Try again later, or raise it with queues set.`,
		);
	}

	/** How often a job is started at most, if an operator has set that. */
	attempts(queue: string): number | undefined {
		return this.#settings.overridesOf(queue).attempts;
	}

	/** So many jobs were added. */
	added(queue: string, jobs: number): void {
		this.#levels.get(queue)?.add(jobs);
	}

	#levelOf(queue: string): PendingLevel {
		let level = this.#levels.get(queue);
		if (level === undefined) {
			level = new PendingLevel(this.#store, queue);
			this.#levels.set(queue, level);
		}
		return level;
	}
}

/** So often the pending jobs of a queue are counted at most. Milliseconds. */
const COUNT_MS = 1_000;
/** Counting takes at most this part of the time. */
const COUNT_SHARE = 0.05;

/**
 * How many jobs of a queue are pending: counted now and then, with what this
 * process has added since. Long queues are counted less often.
 */
class PendingLevel {
	readonly #store: JobStore;
	readonly #queue: string;
	/** By shard, as it answered last. */
	#counts = new Map<number, number>();
	#counted = 0;
	#added = 0;
	/** 0: not counted yet. */
	#nextAt = 0;
	#counting: Promise<void> | null = null;

	constructor(store: JobStore, queue: string) {
		this.#store = store;
		this.#queue = queue;
	}

	add(jobs: number): void {
		this.#added += jobs;
	}

	async read(max: number): Promise<number> {
		if (performance.now() >= this.#nextAt) {
			this.#counting ??= this.#count(max).finally(() => {
				this.#counting = null;
			});
			// The first count, and one that may open a full queue again, are waited for.
			if (this.#nextAt === 0 || this.#counted + this.#added >= max) {
				await this.#counting;
			}
		}
		return this.#counted + this.#added;
	}

	async #count(max: number): Promise<void> {
		const began = performance.now();
		const addedBefore = this.#added;
		const counts = await Promise.all(
			this.#store.shards.map(async (shard): Promise<[number, number]> => {
				const at = { queue: this.#queue, shard };
				const count = await this.#store
					.count(at, { state: "pending" }, max)
					.catch((error: unknown) => {
						if (!(error instanceof CorkboardError)) throw error;
						// It may be too full to be counted in time.
						return this.#counts.get(shard) ?? 0;
					});
				return [shard, count];
			}),
		);
		this.#counts = new Map(counts);
		this.#counted = counts.reduce((sum, [, count]) => sum + count, 0);
		this.#added -= addedBefore;
		const now = performance.now();
		this.#nextAt = now + Math.max(COUNT_MS, (now - began) / COUNT_SHARE);
	}
}
