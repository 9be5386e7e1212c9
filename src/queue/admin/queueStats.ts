import { CorkboardError } from "../../errors.ts";
import { HOUR_US, hourOf } from "../bucket.ts";
import {
	type CountedJobs,
	type JobAdmin,
	type JobStore,
	PRIORITIES,
	type ShardOfQueue,
} from "../jobStore.ts";

/** A count of one state on one shard stops there. */
const COUNT_CAP = 100_000;

/** A number of jobs: exact, or at least so many. */
export interface Count {
	readonly jobs: number;
	/** More than the cap on a shard: there are more. */
	readonly isCapped: boolean;
}

/** The jobs of a queue on all shards that answered. */
interface QueueStats {
	/** Pending and due. */
	readonly ready: Count;
	/** Pending and due later. */
	readonly delayed: Count;
	/** Claimed, and the claim is valid. */
	readonly running: Count;
	/** Claimed, and the claim has ended: pending again within seconds, if any worker runs. */
	readonly expired: Count;
	readonly succeeded: Count;
	readonly failed: Count;
	/** How long the job that is due first has been due; null if none is. Milliseconds. */
	readonly oldestDueMs: number | null;
	/** That ended in the last minute. */
	readonly succeededLastMinute: Count;
	readonly failedLastMinute: Count;
}

export interface StatsAnswer {
	readonly stats: QueueStats;
	/** Shards that could not be counted. */
	readonly failures: ReadonlyMap<number, CorkboardError>;
}

const MINUTE_US = 60_000_000;

/** Counts the jobs of a queue, on indexes alone. */
export async function queueStats(
	store: JobStore & JobAdmin,
	queue: string,
	shards: readonly number[] = store.shards,
): Promise<StatsAnswer> {
	const failures = new Map<number, CorkboardError>();
	const answers = await Promise.all(
		shards.map(async (shard) => {
			try {
				return await statsOfShard(store, { queue, shard });
			} catch (error) {
				if (!(error instanceof CorkboardError)) throw error;
				if (error.code !== "NOT_FOUND") failures.set(shard, error);
				return null;
			}
		}),
	);
	const stats = answers.reduce<QueueStats>(
		(sum, one) => (one === null ? sum : addStats(sum, one)),
		NO_JOBS,
	);
	return { stats, failures };
}

/** Bytes of a queue's files on all shards; null unless each of them says. */
export async function diskBytes(
	store: JobStore & JobAdmin,
	queue: string,
): Promise<number | null> {
	const answers = await Promise.all(
		store.shards.map(async (shard) => {
			try {
				return await store.diskBytes({ queue, shard });
			} catch (error) {
				if (!(error instanceof CorkboardError)) throw error;
				// A shard that the queue has not been created on.
				return error.code === "NOT_FOUND" ? 0 : null;
			}
		}),
	);
	return answers.reduce<number | null>(
		(sum, bytes) => (sum === null || bytes === null ? null : sum + bytes),
		0,
	);
}

/** Jobs on all shards. Throws if one cannot be counted. */
export async function countJobs(
	store: JobStore & JobAdmin,
	queue: string,
	of: CountedJobs,
): Promise<Count> {
	const counts = await Promise.all(
		store.shards.map((shard) => countOnShard(store, { queue, shard }, of)),
	);
	return counts.reduce(add, NONE);
}

async function countOnShard(
	store: JobStore & JobAdmin,
	at: ShardOfQueue,
	of: CountedJobs,
): Promise<Count> {
	const jobs = await store.count(at, of, COUNT_CAP + 1);
	return { jobs: Math.min(jobs, COUNT_CAP), isCapped: jobs > COUNT_CAP };
}

function add(one: Count, other: Count): Count {
	return {
		jobs: one.jobs + other.jobs,
		isCapped: one.isCapped || other.isCapped,
	};
}

const NONE: Count = { jobs: 0, isCapped: false };
const NO_JOBS: QueueStats = {
	ready: NONE,
	delayed: NONE,
	running: NONE,
	expired: NONE,
	succeeded: NONE,
	failed: NONE,
	oldestDueMs: null,
	succeededLastMinute: NONE,
	failedLastMinute: NONE,
};

async function statsOfShard(
	store: JobStore & JobAdmin,
	at: ShardOfQueue,
): Promise<QueueStats> {
	const now = await store.now(at.shard);
	const count = (of: CountedJobs) => countOnShard(store, at, of);
	const recent = now - MINUTE_US;
	const [
		ready,
		delayed,
		running,
		expired,
		succeeded,
		failed,
		succeededLastMinute,
		failedLastMinute,
		oldestDueMs,
	] = await Promise.all([
		count({ state: "pending", until: now + 1 }),
		count({ state: "pending", from: now + 1 }),
		count({ state: "running", from: now }),
		count({ state: "running", until: now }),
		count({ state: "succeeded" }),
		count({ state: "failed" }),
		count({ state: "succeeded", from: recent }),
		count({ state: "failed", from: recent }),
		oldestDue(store, at, now),
	]);
	return {
		ready,
		delayed,
		running,
		expired,
		succeeded,
		failed,
		oldestDueMs,
		succeededLastMinute,
		failedLastMinute,
	};
}

/** Milliseconds; null if nothing is due. Throws what the shard failed with. */
export async function oldestDue(
	store: Pick<JobStore, "due">,
	at: ShardOfQueue,
	now: number,
): Promise<number | null> {
	const found = await store.due(
		PRIORITIES.map((priority) => ({
			at,
			priority,
			buckets: [0, hourOf(now + HOUR_US)] as const,
			floor: 0,
		})),
	);
	let first = Number.POSITIVE_INFINITY;
	for (const due of found) {
		if (due instanceof CorkboardError) throw due;
		if (due !== null) first = Math.min(first, due.at);
	}
	return first <= now ? (now - first) / 1_000 : null;
}

function addStats(one: QueueStats, other: QueueStats): QueueStats {
	const sum = (name: Exclude<keyof QueueStats, "oldestDueMs">) =>
		add(one[name], other[name]);
	return {
		ready: sum("ready"),
		delayed: sum("delayed"),
		running: sum("running"),
		expired: sum("expired"),
		succeeded: sum("succeeded"),
		failed: sum("failed"),
		succeededLastMinute: sum("succeededLastMinute"),
		failedLastMinute: sum("failedLastMinute"),
		oldestDueMs:
			one.oldestDueMs === null
				? other.oldestDueMs
				: Math.max(one.oldestDueMs, other.oldestDueMs ?? 0),
	};
}
