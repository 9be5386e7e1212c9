import { CorkboardError } from "../../errors.ts";
import { parseJobId } from "../jobId.ts";
import {
	type JobAdmin,
	type JobChange,
	type JobState,
	type JobStore,
	MAX_JOBS,
} from "../jobStore.ts";
import { type JobFilter, type JobOnShard, scanAll } from "./scanJobs.ts";

/** A job with its queue. */
export interface QueuedJob extends JobOnShard {
	readonly queue: string;
}

/** Jobs by their ids, in the same order; null for those that are gone. Throws BAD_USER_INPUT for a text that is no id of a job. */
export async function lookupJobs(
	store: JobStore & JobAdmin,
	ids: readonly string[],
	options: { readonly body?: boolean } = {},
): Promise<readonly (QueuedJob | null)[]> {
	const found = new Array<QueuedJob | null>(ids.length).fill(null);
	const places = Map.groupBy(
		ids.map((text, index) => ({ index, ...jobIdOf(text) })),
		({ queue, shard }) => `${queue} ${shard}`,
	);
	await Promise.all(
		[...places.values()].map(async (own) => {
			const { queue, shard } = own[0] as (typeof own)[number];
			const jobs = await store.find({ queue, shard }, own, options);
			for (const [n, job] of jobs.entries()) {
				if (job === null) continue;
				found[(own[n] as (typeof own)[number]).index] = {
					...job,
					queue,
					shard,
				};
			}
		}),
	);
	return found;
}

function jobIdOf(text: string) {
	const id = parseJobId(text);
	if (id !== null) return id;
	throw new CorkboardError(
		"BAD_USER_INPUT",
		`The id of a job is such as feedItem.3.497904.01jd9k4w7r2bx8q0m5t6v3n1ye, got ${JSON.stringify(text.slice(0, 200))}.`,
	);
}

/** Jobs that failed. */
export interface RetryOptions extends Omit<JobFilter, "state"> {
	/** How often they may be started again (default 1). */
	readonly attempts?: number;
	/** From now (default 0). */
	readonly dueInMs?: number;
	/** At most (default 1,000), the oldest first. */
	readonly limit?: number;
	/** Changes nothing. */
	readonly dryRun?: boolean;
}

/** PinLater's limit of one call. */
export const DEFAULT_LIMIT = 1_000;

export interface ChangedJobs {
	/** What was found. */
	readonly found: readonly JobOnShard[];
	/** How many were changed: less where workers or others were faster; 0 of a dry run. */
	readonly changed: number;
	/** Whether there may be more to change: the limit was reached. */
	readonly hasMore: boolean;
}

/** Failed jobs become pending again. It can be repeated: what has been retried is not failed any more. */
export async function retryFailed(
	store: JobStore & JobAdmin,
	queue: string,
	{ attempts = 1, dueInMs = 0, ...options }: RetryOptions = {},
): Promise<ChangedJobs> {
	const change = async (shard: number): Promise<JobChange> => ({
		kind: "retry",
		due: (await store.now(shard)) + Math.round(dueInMs * 1_000),
		moreAttempts: attempts,
	});
	return changeFound(store, queue, { ...options, state: "failed" }, change);
}

export interface RemoveOptions
	extends Omit<RetryOptions, "attempts" | "dueInMs"> {
	readonly state: Exclude<JobState, "running">;
}

/** Deletes jobs for good, but none that a worker has claimed. */
export async function removeJobs(
	store: JobStore & JobAdmin,
	queue: string,
	options: RemoveOptions,
): Promise<ChangedJobs> {
	return changeFound(store, queue, options, async () => ({ kind: "remove" }));
}

async function changeFound(
	store: JobStore & JobAdmin,
	queue: string,
	{
		limit = DEFAULT_LIMIT,
		dryRun = false,
		...filter
	}: JobFilter & { readonly limit?: number; readonly dryRun?: boolean },
	change: (shard: number) => Promise<JobChange>,
): Promise<ChangedJobs> {
	// All are found before the first is changed, so that none is found twice.
	const found: JobOnShard[] = [];
	for await (const page of scanAll(store, queue, filter, { limit })) {
		found.push(...page);
	}
	let changed = 0;
	if (!dryRun) {
		for (const [shard, jobs] of Map.groupBy(found, (job) => job.shard)) {
			for (let at = 0; at < jobs.length; at += MAX_JOBS) {
				changed += await store.change(
					{ queue, shard },
					jobs.slice(at, at + MAX_JOBS),
					await change(shard),
				);
			}
		}
	}
	return { found, changed, hasMore: found.length === limit };
}
