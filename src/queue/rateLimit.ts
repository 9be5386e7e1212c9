import type { QueueSettings } from "./settings.ts";

/*
 * A queue's limits are shared out among its shards, and each shard holds to its
 * part by itself, under the lock of the queue's row in the transaction that
 * claims jobs. So a limit is exact whatever workers do: none of them keeps a
 * share that it does not use, and one that is killed takes none along. Of a
 * rate r, jobs started in t seconds are at most r·t + shards·burst.
 */

/** What a shard may start. */
export interface ShardLimit {
	/** Null: no limit. */
	readonly perSecond: number | null;
	/** Tokens at most. */
	readonly burst: number;
	/** Null: no limit. */
	readonly maxRunning: number | null;
}

/** The token bucket in a queue's row. */
export interface RateBucket {
	readonly tokens: number;
	/** Microseconds, by the shard's clock. */
	readonly filledAt: number;
}

/** The part of the `position`th (from 0) of so many shards; null if no claim has to take the lock. */
export function limitOfShard(
	{ paused, maxJobsPerSecond, burst, maxRunning }: QueueSettings,
	shards: number,
	position: number,
): ShardLimit | null {
	if (paused) return { perSecond: 0, burst, maxRunning: null };
	if (maxJobsPerSecond === null && maxRunning === null) return null;
	return {
		perSecond: maxJobsPerSecond === null ? null : maxJobsPerSecond / shards,
		burst,
		maxRunning:
			maxRunning === null ? null : shareOf(maxRunning, shards, position),
	};
}

/** Whether nothing may start until the settings change, so that nobody needs to ask. */
export function isStopped({
	paused,
	maxJobsPerSecond,
}: Pick<QueueSettings, "paused" | "maxJobsPerSecond">): boolean {
	return paused || maxJobsPerSecond === 0;
}

export interface Allowance {
	/** How many jobs may start now. */
	readonly jobs: number;
	/** Milliseconds until one may, if none may; null: that depends on jobs that run, or on the settings. */
	readonly waitMs: number | null;
	/** Refilled, before anything is taken. */
	readonly bucket: RateBucket;
}

/** Under the lock of the row: refills its bucket, and says how many of `wanted` jobs may start. `now` is in microseconds. */
export function allow(
	{ perSecond, burst, maxRunning }: ShardLimit,
	before: RateBucket,
	{
		wanted,
		running,
		now,
	}: {
		readonly wanted: number;
		/** On this shard; counted only if `maxRunning` is not null. */
		readonly running: number;
		readonly now: number;
	},
): Allowance {
	const free = maxRunning === null ? wanted : Math.max(0, maxRunning - running);
	if (perSecond === null) {
		return { jobs: Math.min(wanted, free), waitMs: null, bucket: before };
	}
	const bucket = refill(before, perSecond, burst, now);
	// A rate of 0 does not use up what is left of the rate before.
	const tokens = perSecond === 0 ? 0 : Math.floor(bucket.tokens + EPSILON);
	const jobs = Math.min(wanted, free, tokens);
	const lacking = 1 - bucket.tokens;
	return {
		jobs,
		waitMs:
			perSecond === 0 || free === 0 || lacking <= EPSILON
				? null
				: Math.ceil((lacking / perSecond) * 1_000),
		bucket,
	};
}

/** After so many jobs were claimed. */
export function take(bucket: RateBucket, jobs: number): RateBucket {
	return { ...bucket, tokens: Math.max(0, bucket.tokens - jobs) };
}

/** Sums of fractions are not exact: without it, ten times a tenth is no token. Far below what a clock of microseconds adds. */
const EPSILON = 1e-9;
const SECOND_US = 1_000_000;

/** A clock that went back fills nothing, and what it went back is not filled again. */
function refill(
	{ tokens, filledAt }: RateBucket,
	perSecond: number,
	burst: number,
	now: number,
): RateBucket {
	const gained = (Math.max(0, now - filledAt) / SECOND_US) * perSecond;
	return {
		tokens: Math.min(burst, tokens + gained),
		filledAt: Math.max(filledAt, now),
	};
}

/** Parts that add up to the whole, with the rest on the first shards. No shard gets none: its jobs would never start. */
function shareOf(whole: number, shards: number, position: number): number {
	const part = Math.floor(whole / shards) + (position < whole % shards ? 1 : 0);
	return Math.max(1, part);
}
