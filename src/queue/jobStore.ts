import type { CorkboardError } from "../errors.ts";
import type { JsonObject } from "../util/json.ts";
import type { LocalId } from "./jobId.ts";
import type { ShardLimit } from "./rateLimit.ts";

/**
 * The job store: the jobs of queues on their shards. MySQL and SQLite implement
 * it and pass one suite (test/suites/jobStore.ts). Which shard a job goes to,
 * batching, polling, limits and handlers stand above it.
 *
 * Each call is at most one transaction on one shard, none waits for jobs. Times
 * are microseconds since 1970 by the shard's clock (`now`), durations are
 * milliseconds. The calls that write choose the moment themselves.
 *
 * A failure of a shard is a CorkboardError: UNAVAILABLE, or NOT_FOUND for a
 * queue or shard that does not exist. A write that failed with UNAVAILABLE may
 * have been done; each says what repeating it does. Misuse is a TypeError.
 */
export interface JobStore extends AsyncDisposable {
	/** Shards of the topology's `queues`, ascending. */
	readonly shards: readonly number[];
	/** The shards that take new jobs: not those that are being drained. */
	readonly openShards: readonly number[];
	/** The host of a shard as errors and metrics name it; null without such a shard. */
	hostOf(shard: number): string | null;

	/** The shard's clock. Asks the shard only for the first time; later answers are kept right in the background. */
	now(shard: number): Promise<number>;

	/**
	 * Stores jobs, at most MAX_JOBS of them, all or none. The ids make it repeatable:
	 * a call whose outcome is unknown is repeated with the same jobs and `isRepeat`,
	 * on the same shard, at any later time, even by another process, and adds only
	 * those that are not there.
	 */
	enqueue(
		at: ShardOfQueue,
		jobs: readonly NewJob[],
		options?: { readonly isRepeat?: boolean },
	): Promise<readonly Enqueued[]>;

	/**
	 * Applies a worker's acks, then claims jobs for it, in one commit. Every ack
	 * is a compare-and-set on the token of the claim; a repeated ack is `done`
	 * again. If the COMMIT got no answer, the claim is looked up, and what was
	 * claimed is returned.
	 */
	ackAndClaim(at: ShardOfQueue, wanted: AcksAndClaim): Promise<AckedAndClaimed>;

	/** Makes claims end `claimMs` from now; returns those that are still held, in their order. */
	renew(
		at: ShardOfQueue,
		claims: readonly Held[],
		claimMs: number,
	): Promise<readonly Held[]>;

	/**
	 * Ends claims whose time is over: the jobs are pending again after
	 * `delayMs(attempts)`, or failed if no attempt is left. Looks in the bucket of
	 * an hour, or in all without one.
	 */
	expire(at: ShardOfQueue, options: ExpireOptions): Promise<Expired>;

	/**
	 * Whether there are claims whose time is over, which `expire` would end; one
	 * statement per host, without locks.
	 */
	hasExpired(
		ranges: readonly ExpiryRange[],
	): Promise<readonly (boolean | CorkboardError)[]>;

	/** The pending job that is due first in each range, due already or not; one statement per host. */
	due(
		ranges: readonly DueRange[],
	): Promise<readonly (Due | null | CorkboardError)[]>;

	/** Jobs by their ids; null for those that are not there. The buckets are hints. */
	find(
		at: ShardOfQueue,
		jobs: readonly JobKey[],
		options?: { readonly body?: boolean },
	): Promise<readonly (Job | null)[]>;

	/** Jobs of one state and priority in order of (at, id). */
	scan(at: ShardOfQueue, scan: JobScan): Promise<ScannedJobs>;

	/** How many jobs there are, at most `cap`: it counts no further. */
	count(at: ShardOfQueue, of: CountedJobs, cap: number): Promise<number>;

	/** All queues of these shards, by name, in the order of the shards; one statement per host. */
	queuesOn(
		shards: readonly number[],
	): Promise<readonly (readonly QueueRow[] | CorkboardError)[]>;
}

/**
 * What only operations need of the queues: changes of jobs that nobody works on, and
 * the queues themselves. The stores of jobs implement it too.
 */
export interface JobAdmin {
	/** Changes jobs that nobody has claimed; returns how many it changed. Repeating it is harmless. */
	change(
		at: ShardOfQueue,
		jobs: readonly JobKey[],
		to: JobChange,
	): Promise<number>;

	/** Bytes of the files of a queue, or an estimate if the server's user may not see them; null if finding out would take too long. */
	diskBytes(at: ShardOfQueue): Promise<number | null>;

	/** All queues of a shard, by name. */
	queues(shard: number): Promise<readonly QueueRow[]>;

	/** Creates a queue with its tables, or replaces the settings of an older version. It can be repeated. */
	put(shard: number, queue: QueueRow): Promise<void>;

	/** Deletes a queue with all its jobs. It can be repeated. */
	drop(at: ShardOfQueue): Promise<void>;

	/** Creates the databases and tables that hold the queues' settings. */
	createTables(): Promise<void>;

	/** What `createTables` would create, as `database.table`. */
	missingTables(): Promise<readonly string[]>;
}

/** Most jobs of one call that writes. */
export const MAX_JOBS = 500;

/** Bytes of a job's key in UTF-8. */
export const MAX_KEY_BYTES = 200;

/** Characters of a job's status that are kept, the newest first. */
export const MAX_STATUS = 5_000;

/** The jobs of one queue on one shard. */
export interface ShardOfQueue {
	readonly queue: string;
	readonly shard: number;
}

/** PinLater's numbers. */
export const STATE = {
	pending: 0,
	running: 1,
	succeeded: 2,
	failed: 3,
} as const;
export type JobState = keyof typeof STATE;

/** 1 is taken first. */
export type Priority = 1 | 2 | 3;
export const PRIORITIES: readonly Priority[] = [1, 2, 3];

/** Identifies a job on its shard. */
export interface JobKey {
	readonly local: LocalId;
	/** The hour it is stored under, as far as the caller knows. */
	readonly bucket: number;
}

/** A job as its producer makes it, once; a repeat sends the same one. */
export interface NewJob extends JobKey {
	/** `bucketOf(due, now)` at `createdAt`. */
	readonly bucket: number;
	readonly priority: Priority;
	/** Not claimed before. A time in the past is now. */
	readonly due: number;
	/** How often it may be started, 1 to 65,535. */
	readonly allowed: number;
	readonly createdAt: number;
	/** While a job with the same key is pending on the shard, this one is merged into it. At most MAX_KEY_BYTES bytes. */
	readonly key: string | null;
	readonly body: string;
}

/**
 * - `added`: stored by this call.
 * - `there`: stored before, by an earlier try.
 * - an object: not stored, because that pending job has its key.
 */
export type Enqueued = "added" | "there" | { readonly mergedInto: LocalId };

/** A claim that a worker holds. Its acks are accepted while nobody else has changed the job. */
export interface Held extends JobKey {
	/** The token of the claim. */
	readonly claim: number;
}

/** What a worker acknowledges, and what it claims. */
export interface AcksAndClaim {
	readonly acks?: readonly Ack[];
	readonly claim?: ClaimRange;
}

export interface AckedAndClaimed {
	/** In the order of `acks`. */
	readonly acked: readonly Acked[];
	/** In order of (due, id). */
	readonly claimed: readonly ClaimedJob[];
	/**
	 * With `limits`: milliseconds until the rate lets another job start, as far as
	 * is known; null if it does now, or if that depends on jobs that run.
	 */
	readonly waitMs?: number | null;
}

/**
 * What a worker says of a job it has claimed:
 *
 * - `succeed`: done.
 * - `fail`: pending again `delayMs` from now, or failed if no attempt is left.
 * - `giveUp`: failed, whatever is left.
 * - `release`: pending again `delayMs` from now, as if it had not been started.
 * - `again`: pending again `delayMs` from now with no attempt used, for work that continues or recurs.
 * - `checkpoint`: it keeps running with what is given here; the claim ends when it would have.
 */
export type Ack = Held & JobUpdate & (AckOnly | AckWithDelay);
interface AckOnly {
	readonly kind: "succeed" | "giveUp" | "checkpoint";
}
interface AckWithDelay {
	readonly kind: "fail" | "release" | "again";
	readonly delayMs: number;
}

/** Parts of a job that its worker may replace; those that are absent stay. */
export interface JobUpdate {
	readonly body?: string;
	/** Put before the status, on a line of its own. */
	readonly status?: string;
	/** How often it may be started, all starts counted. */
	readonly allowed?: number;
}

/**
 * - `done`: by this call or an earlier one with the same token.
 * - `lost`: the claim had ended; nothing was changed.
 * - `absent`: there is no such job.
 */
export type Acked = "done" | "lost" | "absent";

/** Due jobs of one bucket and priority, the first of them first. */
export interface ClaimRange {
	/** As `due` gave it. A store without partitions looks at all buckets. */
	readonly bucket: number;
	readonly priority: Priority;
	/** Nothing due before is looked at: see `ClaimFloors`. 0 for everything. */
	readonly floor: number;
	/** At most MAX_JOBS. */
	readonly limit: number;
	/** From `newClaim()`: one for each call. */
	readonly claim: number;
	/** When the claims end, from now. */
	readonly claimMs: number;
	/** What this shard may start (`LiveSettings.limit`), taken under the lock of the queue's row in the same transaction; absent or null: no lock is taken. */
	readonly limits?: ShardLimit | null;
}

/** A job that is the caller's until its claim ends. */
export interface ClaimedJob extends Held {
	readonly priority: Priority;
	/** Starts, this one included: it rises with each. */
	readonly attempts: number;
	readonly allowed: number;
	readonly createdAt: number;
	/** When it was due. */
	readonly dueAt: number;
	/** When the claim ends. */
	readonly until: number;
	readonly key: string | null;
	readonly body: string;
}

export interface ExpireOptions {
	readonly bucket?: number;
	/** At most MAX_JOBS. */
	readonly limit: number;
	/** How long a job waits after so many starts. */
	readonly delayMs: (attempts: number) => number;
}

/** Jobs in the buckets from the first to the last, or in all without them. A store without partitions looks at all buckets. */
export interface ExpiryRange {
	readonly at: ShardOfQueue;
	readonly buckets?: readonly [number, number];
}

export interface Expired {
	/** Jobs that are pending again. */
	readonly again: number;
	readonly failed: number;
}

/** Pending jobs of one priority in the buckets from the first to the last. A store without partitions looks at all buckets. */
export interface DueRange {
	readonly at: ShardOfQueue;
	readonly buckets: readonly [number, number];
	readonly priority: Priority;
	readonly floor: number;
}

export interface Due {
	readonly bucket: number;
	/** When the job is due. */
	readonly at: number;
}

/** A job as it is stored. */
export interface Job extends JobKey {
	readonly state: JobState;
	readonly priority: Priority;
	/** Pending: when it is due. Running: when its claim ends. Else: when it ended. */
	readonly at: number;
	/** The token of the last claim, kept when it ended; 0: never claimed, or the claim expired. */
	readonly claim: number;
	readonly attempts: number;
	readonly allowed: number;
	readonly createdAt: number;
	readonly key: string | null;
	/** What workers reported, the newest first. */
	readonly status: string;
	/** Null if it was not asked for. */
	readonly body: string | null;
}

/** A position between jobs in order of (at, id). */
export interface JobPosition {
	readonly at: number;
	readonly local: LocalId;
}

export interface JobScan extends CountedJobs {
	readonly priority: Priority;
	readonly after?: JobPosition;
	/** Only those whose body contains the text, upper and lower case as given. */
	readonly matching?: string;
	/** Most jobs that are read, whether they match or not. */
	readonly limit: number;
	/** Whether to return bodies. */
	readonly body?: boolean;
}

export interface ScannedJobs {
	readonly jobs: readonly Job[];
	/** Where to continue; null at the end. */
	readonly next: JobPosition | null;
}

/**
 * - `retry`: failed jobs become pending, due at `due`, with so many more starts.
 * - `reschedule`: pending jobs become due at `due`.
 * - `remove`: jobs are deleted, unless they are running.
 */
export type JobChange =
	| {
			readonly kind: "retry";
			readonly due: number;
			readonly moreAttempts: number;
			/** Whether it may be running: its worker's claim ends. */
			readonly running?: boolean;
	  }
	| { readonly kind: "reschedule"; readonly due: number }
	| { readonly kind: "remove" };

export interface CountedJobs {
	readonly state: JobState;
	/** All priorities if absent. */
	readonly priority?: Priority;
	/** Only those whose `at` is not before. */
	readonly from?: number;
	/** Only those whose `at` is before. */
	readonly until?: number;
}

/** A queue as a shard knows it. */
export interface QueueRow {
	readonly name: string;
	/** Read and checked above the port. */
	readonly settings: JsonObject;
	/** Rises with each change: the newest wins. */
	readonly version: number;
}
