import { CorkboardError } from "../../errors.ts";
import { StorageFailure } from "../../storage/storageFailure.ts";
import { rendezvousOrder } from "../../util/rendezvous.ts";
import { bucketOf } from "../bucket.ts";
import { QUEUE_CHANNELS } from "../diagnostics.ts";
import type { JobHints } from "../hints.ts";
import type { Job } from "../job.ts";
import { formatJobId, newLocalId } from "../jobId.ts";
import {
	type Enqueued,
	type JobStore,
	MAX_JOBS,
	type NewJob,
	type Priority,
} from "../jobStore.ts";
import { EnqueueGathering } from "./enqueueGathering.ts";
import type { QueueBounds } from "./queueBounds.ts";
import { ShardHealth } from "./shardHealth.ts";

export interface EnqueueOptions {
	/** From now (default 0): when it may start. */
	readonly delayMs?: number;
	/** 1 is taken first (default 2). */
	readonly priority?: Priority;
	/**
	 * At most 200 bytes. While a job with this key is pending, another one is
	 * merged into it. If a job recomputes something, its key names that, and it is
	 * enqueued after each change, then some run begins after the last change.
	 */
	readonly key?: string;
	/** Starts that it gets (default: as its kind says). */
	readonly attempts?: number;
}

export interface EnqueuedJob {
	/** Its own, or that of the pending job it was merged into. */
	readonly id: string;
	readonly isMerged: boolean;
}

/** A job with its place, as it is sent to the store: sending it again adds nothing. */
export interface PlacedJob extends NewJob {
	readonly queue: string;
	readonly shard: number;
}

/** What producers of jobs use. */
export class Jobs {
	readonly #store: JobStore;
	readonly #hints: JobHints;
	readonly #bounds: QueueBounds | null;
	readonly #health = new ShardHealth();
	/** By queue. */
	readonly #gathering = new Map<
		string,
		EnqueueGathering<PlacedJob, EnqueuedJob>
	>();

	constructor(
		store: JobStore,
		hints: JobHints,
		/** Null: queues take any number of jobs. */
		bounds: QueueBounds | null,
	) {
		this.#store = store;
		this.#hints = hints;
		this.#bounds = bounds;
	}

	/**
	 * Enqueues a job. It is stored when this resolves, and runs at least once.
	 *
	 * Throws BAD_USER_INPUT for a body that its schema refuses or that is too large,
	 * NOT_FOUND for a queue that does not exist, QUEUE_FULL for one that takes no
	 * more, and UNAVAILABLE: then the job may be stored or not.
	 */
	async enqueue<Input>(
		kind: Job<Input, never>,
		body: Input,
		options: EnqueueOptions = {},
	): Promise<EnqueuedJob> {
		const [enqueued] = await this.enqueueAll(kind, [{ ...options, body }]);
		return enqueued as EnqueuedJob;
	}

	/** The same for many jobs, 500 in one statement, which small calls at the same time share. Either all jobs of a statement are stored, or none. */
	async enqueueAll<Input>(
		kind: Job<Input, never>,
		jobs: readonly (EnqueueOptions & { readonly body: Input })[],
	): Promise<readonly EnqueuedJob[]> {
		const bodies = jobs.map(({ body }) => kind.encode(body));
		await this.#bounds?.check(kind.queue, bodies);
		const placeJob = await this.prepare();
		const attempts = this.#bounds?.attempts(kind.queue) ?? kind.attempts;
		const placed = jobs.map(({ body: _, ...options }, index) =>
			placeJob(kind.queue, bodies[index] ?? "", { attempts, ...options }),
		);
		return this.#send(placed, FIRST_TRY);
	}

	/**
	 * Chooses a shard and the time for jobs that are enqueued later, as those of an
	 * outbox entry. Each call of the function makes a new job. Resolves soon also
	 * if no shard answers.
	 */
	async prepare(): Promise<
		(
			queue: string,
			body: string,
			options: EnqueueOptions & { readonly attempts: number },
		) => PlacedJob
	> {
		const { openShards, shards } = this.#store;
		const picked = this.#pick(openShards.length > 0 ? openShards : shards);
		const now = await this.#clockOf(picked);
		return (queue, body, { delayMs = 0, priority = 2, key, attempts }) => {
			const due = now + Math.max(0, Math.round(delayMs * 1_000));
			return {
				queue,
				shard: key === undefined ? picked : this.shardOfKey(queue, key),
				local: newLocalId(),
				bucket: bucketOf(due, now),
				priority,
				due,
				allowed: attempts,
				createdAt: now,
				key: key ?? null,
				body,
			};
		};
	}

	/**
	 * Enqueues jobs where they were placed, in order. `isRepeat`: somebody may have
	 * tried before. Throws as `enqueue` does.
	 */
	enqueuePlaced(
		jobs: readonly PlacedJob[],
		isRepeat: boolean,
	): Promise<readonly EnqueuedJob[]> {
		return this.#send(jobs, { mayChangeShard: false, isRepeat });
	}

	/** By its own clock if the shard does not say soon: a bucket needs the time to a minute. */
	async #clockOf(shard: number): Promise<number> {
		const own = new Promise<number>((resolve) => {
			setTimeout(() => resolve(Date.now() * 1_000), CLOCK_MS).unref();
		});
		const clock = this.#store.now(shard).catch(() => Date.now() * 1_000);
		return Promise.race([clock, own]);
	}

	/** The shard of all jobs with this key. */
	shardOfKey(queue: string, key: string): number {
		const [shard] = rendezvousOrder(`${queue} ${key}`, this.#store.openShards);
		if (shard === undefined) throw noShard();
		return shard;
	}

	#pick(shards: readonly number[]): number {
		const shard = this.#health.pick(shards);
		if (shard === undefined) throw noShard();
		return shard;
	}

	/** Stores jobs on their shards, in order. */
	async #send(
		jobs: readonly PlacedJob[],
		options: SendOptions,
	): Promise<readonly EnqueuedJob[]> {
		const results = new Map<PlacedJob, EnqueuedJob>();
		const groups = Map.groupBy(jobs, ({ queue, shard }) => `${queue} ${shard}`);
		for (const group of groups.values()) {
			for (let at = 0; at < group.length; at += MAX_JOBS) {
				const chunk = group.slice(at, at + MAX_JOBS);
				const gathering = this.#gatheringFor(chunk, options);
				const stored =
					gathering === null
						? await this.#sendChunk(chunk, options)
						: await gathering.send(chunk);
				for (const [index, job] of chunk.entries()) {
					results.set(job, stored[index] as EnqueuedJob);
				}
			}
		}
		return jobs.map((job) => results.get(job) as EnqueuedJob);
	}

	/** Jobs that may go to any shard go with those of other calls; null for others. */
	#gatheringFor(
		chunk: readonly PlacedJob[],
		options: SendOptions,
	): EnqueueGathering<PlacedJob, EnqueuedJob> | null {
		const gathering = this.#gatheringOf(chunk[0]?.queue ?? "");
		const mayShare =
			options.mayChangeShard &&
			!options.isRepeat &&
			chunk.every(({ key }) => key === null) &&
			gathering.takes(chunk);
		return mayShare ? gathering : null;
	}

	#gatheringOf(queue: string): EnqueueGathering<PlacedJob, EnqueuedJob> {
		let gathering = this.#gathering.get(queue);
		if (gathering === undefined) {
			gathering = new EnqueueGathering(
				this.#sendChunk.bind(this),
				isUnavailable,
			);
			this.#gathering.set(queue, gathering);
		}
		return gathering;
	}

	/** If nothing can have been stored, other shards are tried; if it is unknown, the same shard is, with the same ids. */
	async #sendChunk(
		chunk: readonly PlacedJob[],
		{ mayChangeShard, isRepeat: wasTried }: SendOptions = FIRST_TRY,
	): Promise<readonly EnqueuedJob[]> {
		const [first] = chunk;
		if (first === undefined) return [];
		const { queue } = first;
		const isKeyed = chunk.some(({ key }) => key !== null);
		const tried = new Set<number>();
		let shard = first.shard;
		let isRepeat = wasTried;
		const until = performance.now() + WRITABLE_MS;
		for (let attempt = 1; ; attempt++) {
			const ended = this.#health.begin(shard);
			let results: readonly Enqueued[];
			try {
				results = await this.#store.enqueue(
					{ queue, shard },
					chunk,
					isRepeat ? { isRepeat } : {},
				);
			} catch (error) {
				ended(!isUnavailable(error));
				if (!isUnavailable(error)) throw error;
				const others = this.#store.openShards.filter(
					(one) => one !== shard && !tried.has(one),
				);
				const isPaused =
					mayChangeShard &&
					!isRepeat &&
					error.details.kind === "readOnly" &&
					(isKeyed || others.length === 0);
				if (isPaused && performance.now() < until) {
					// As during a promotion: a write would wait as well.
					attempt = 0;
					tried.clear();
					await new Promise((resolve) => setTimeout(resolve, REPEAT_MS));
					continue;
				}
				if (attempt >= MAX_TRIES) throw error;
				tried.add(shard);
				if (isRepeat || !isUnstored(error)) {
					isRepeat = true;
					await new Promise((resolve) => setTimeout(resolve, REPEAT_MS));
					continue;
				}
				if (!mayChangeShard || isKeyed) throw error;
				const next = this.#health.pick(others);
				if (next === undefined) throw error;
				shard = next;
				continue;
			}
			ended(true);
			this.#publish(queue, shard, chunk, results);
			return results.map((result, index) =>
				toEnqueued(queue, shard, chunk[index] as PlacedJob, result),
			);
		}
	}

	/** Says what was stored, and wakes workers. */
	#publish(
		queue: string,
		shard: number,
		jobs: readonly PlacedJob[],
		results: readonly Enqueued[],
	): void {
		const added = results.filter((result) => result === "added").length;
		this.#bounds?.added(queue, added);
		if (QUEUE_CHANNELS.jobsEnqueued.hasSubscribers) {
			const merged = results.filter((result) => typeof result === "object");
			QUEUE_CHANNELS.jobsEnqueued.publish({
				queue,
				shard,
				added,
				merged: merged.length,
			});
		}
		const due = jobs.filter((job) => job.due <= job.createdAt);
		for (const priority of new Set(due.map(({ priority }) => priority))) {
			this.#hints.publish(queue, shard, priority);
		}
		// Workers learn when the next one is due.
		if (due.length < jobs.length) this.#hints.publish(queue, shard);
	}
}

interface SendOptions {
	/** Whether other shards may be tried. */
	readonly mayChangeShard: boolean;
	readonly isRepeat: boolean;
}

const FIRST_TRY: SendOptions = { mayChangeShard: true, isRepeat: false };

/** How long a producer waits for the clock of a shard. */
const CLOCK_MS = 100;
/** Tries of one chunk, on all shards. */
const MAX_TRIES = 4;
const REPEAT_MS = 100;
/** How long jobs wait for a shard that takes no writes for now, if no other may have them. */
const WRITABLE_MS = 10_000;

/** Kinds of failure that leave nothing stored. */
const UNSTORED: ReadonlySet<unknown> = new Set([
	"hostDown",
	"poolExhausted",
	"readOnly",
	"diskFull",
]);

function isUnstored(error: CorkboardError): boolean {
	const { cause, details } = error;
	const isUnknown =
		cause instanceof StorageFailure && cause.kind === "unknownOutcome";
	return !isUnknown && UNSTORED.has(details.kind);
}

function isUnavailable(error: unknown): error is CorkboardError {
	return error instanceof CorkboardError && error.code === "UNAVAILABLE";
}

function toEnqueued(
	queue: string,
	shard: number,
	{ local, bucket }: PlacedJob,
	result: Enqueued,
): EnqueuedJob {
	return typeof result === "string"
		? { id: formatJobId({ queue, shard, bucket, local }), isMerged: false }
		: {
				id: formatJobId({ queue, shard, bucket, local: result.mergedInto }),
				isMerged: true,
			};
}

function noShard(): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		"No shard of the queue takes jobs: the topology has no queues, or all of them are draining.",
	);
}
