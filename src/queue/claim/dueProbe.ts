import { CorkboardError } from "../../errors.ts";
import { hourOf } from "../bucket.ts";
import {
	type ClaimedJob,
	type DueRange,
	type JobStore,
	PRIORITIES,
	type Priority,
	type ShardOfQueue,
} from "../jobStore.ts";
import { ClaimFloors } from "./claimFloors.ts";
import type { DuePlace } from "./shardChoice.ts";

/** Jobs that are due in one bucket of a place. */
export interface DueBucket extends DuePlace {
	readonly priority: Priority;
	readonly bucket: number;
	/** When the oldest of them was due: where a claim begins. Microseconds. */
	readonly oldestAt: number;
}

export interface Probed {
	readonly due: readonly DueBucket[];
	/** Until the next job is due that the probe saw; null if it saw none. */
	readonly nextMs: number | null;
	/** By shard, why it could not be asked. */
	readonly failures: ReadonlyMap<number, CorkboardError>;
}

/** How long after the end of its hour a bucket may still get pending jobs. */
const PAST_US = 120_000_000;
/** How long before its hour a bucket is asked too, so that what is due then starts in time. */
const AHEAD_US = 10_000_000;

/**
 * Finds out where jobs are due, with one statement per host for all queues and
 * priorities. Mostly it asks for one bucket of each, that of the present hour.
 * Buckets of past hours get no more pending jobs, so the time at which the first of
 * theirs is due can only become later. They are asked again at that time, and once
 * in each hour.
 */
export class DueProbe {
	readonly #store: JobStore;
	readonly #past = new Map<string, Past>();
	readonly #floors = new ClaimFloors();

	constructor(store: JobStore) {
		this.#store = store;
	}

	async find(
		queues: readonly string[],
		shards: readonly number[],
	): Promise<Probed> {
		const { clocks, failures } = await clocksOf(this.#store, shards);
		const ranges = queues.flatMap((queue) =>
			[...clocks].flatMap(([shard, now]) =>
				PRIORITIES.flatMap((priority) =>
					this.#ranges({ queue, shard }, priority, now),
				),
			),
		);
		const answers = ranges.length === 0 ? [] : await this.#store.due(ranges);
		const due: DueBucket[] = [];
		let nextMs: number | null = null;
		for (const [index, range] of ranges.entries()) {
			const { at: place, priority, past } = range;
			const now = clocks.get(place.shard) ?? 0;
			const found = answers[index] ?? null;
			if (found instanceof CorkboardError) {
				// A queue that does not exist there has nothing due.
				if (found.code !== "NOT_FOUND") failures.set(place.shard, found);
				continue;
			}
			if (past !== undefined) past.nextAt = found?.at ?? null;
			if (found === null) continue;
			const waitMs = (found.at - now) / 1_000;
			// Ranges of a store without partitions find the same jobs.
			const isNew = !due.some(
				(other) =>
					other.queue === place.queue &&
					other.shard === place.shard &&
					other.priority === priority &&
					other.bucket === found.bucket,
			);
			if (waitMs <= 0 && !isNew) continue;
			if (waitMs <= 0) {
				due.push({
					...place,
					priority,
					bucket: found.bucket,
					oldestAt: found.at,
					ageMs: -waitMs,
				});
			} else {
				nextMs = Math.min(nextMs ?? waitMs, waitMs);
			}
		}
		return { due, nextMs, failures };
	}

	/** Where a job of this priority may be that was enqueued a moment ago. */
	async recent(at: ShardOfQueue, priority: Priority): Promise<DueBucket> {
		const now = await this.#store.now(at.shard);
		const bucket = hourOf(now);
		const oldestAt = this.#floors.floor(at, bucket, priority, now);
		return { ...at, priority, bucket, oldestAt, ageMs: 0 };
	}

	/** Notes that these jobs were claimed there: later probes begin where the last of them was due. */
	claimed(
		{ queue, shard, bucket, priority }: DueBucket,
		jobs: readonly ClaimedJob[],
		claimMs: number,
	): void {
		const last = jobs.at(-1);
		if (last === undefined) return;
		// The shard is not asked: if that failed, nobody would know of the claim.
		const now = last.until - claimMs * 1_000;
		this.#floors.claimed({ queue, shard }, bucket, priority, last.dueAt, now);
	}

	#ranges(
		at: ShardOfQueue,
		priority: Priority,
		now: number,
	): readonly (DueRange & { readonly past?: Past })[] {
		const first = hourOf(now - PAST_US);
		const last = hourOf(now + AHEAD_US);
		const floors: number[] = [];
		for (let bucket = first; bucket <= last; bucket++) {
			floors.push(this.#floors.floor(at, bucket, priority, now));
		}
		const range: DueRange = {
			at,
			priority,
			buckets: [first, last],
			floor: Math.min(...floors),
		};
		const past = this.#pastOf(at, priority, first);
		if (past.nextAt === null || past.nextAt > now) return [range];
		return [
			{
				at,
				priority,
				buckets: [0, first - 1],
				// Before it nothing is pending any more.
				floor: past.nextAt,
				past,
			},
			range,
		];
	}

	#pastOf(
		{ queue, shard }: ShardOfQueue,
		priority: Priority,
		end: number,
	): Past {
		const key = `${queue} ${shard} ${priority}`;
		const known = this.#past.get(key);
		if (known?.end === end) return known;
		const past: Past = { end, nextAt: 0 };
		this.#past.set(key, past);
		this.#floors.forgetBefore(end);
		return past;
	}
}

/** The clocks of the shards that answer, and the failures of the others. */
export async function clocksOf(
	store: Pick<JobStore, "now">,
	shards: readonly number[],
): Promise<{
	readonly clocks: ReadonlyMap<number, number>;
	readonly failures: Map<number, CorkboardError>;
}> {
	const clocks = new Map<number, number>();
	const failures = new Map<number, CorkboardError>();
	await Promise.all(
		shards.map(async (shard) => {
			try {
				clocks.set(shard, await store.now(shard));
			} catch (error) {
				if (!(error instanceof CorkboardError)) throw error;
				failures.set(shard, error);
			}
		}),
	);
	return { clocks, failures };
}

interface Past {
	/** The first bucket that is not past. */
	readonly end: number;
	/** When the first of its pending jobs is due; null: there is none. Microseconds. */
	nextAt: number | null;
}
