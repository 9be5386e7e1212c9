import type { Id } from "../../id/ids.ts";
import { listQueues } from "../../queue/admin/queueAdmin.ts";
import { type JobOnShard, scanAll } from "../../queue/admin/scanJobs.ts";
import type { Job } from "../../queue/job.ts";
import {
	type JobAdmin,
	type JobState,
	type JobStore,
	MAX_JOBS,
	STATE,
} from "../../queue/jobStore.ts";

export interface ErasedJobs {
	/** The user's jobs that were deleted, or would be. */
	readonly deleted: number;
	/** Jobs that name the user and stay: they are somebody else's, or nobody's, or a worker runs them. */
	readonly staying: readonly {
		readonly queue: string;
		readonly jobs: number;
	}[];
}

/**
 * Deletes the jobs of a user: those whose kind names the user as their subject, but
 * none that a worker runs. Another job may name the user and be somebody else's.
 */
export async function eraseJobs(
	store: JobStore & JobAdmin,
	kinds: readonly Pick<Job, "queue" | "subjectOf">[],
	user: Id,
	{ isDryRun }: { readonly isDryRun: boolean },
): Promise<ErasedJobs> {
	let deleted = 0;
	const staying: { queue: string; jobs: number }[] = [];
	for (const { name: queue } of (await listQueues(store)).queues) {
		let others = 0;
		const kind = kinds.find((each) => each.queue === queue);
		for (const state of Object.keys(STATE) as readonly JobState[]) {
			const own: JobOnShard[] = [];
			const naming = scanAll(
				store,
				queue,
				{ state, matching: user },
				{ limit: Number.POSITIVE_INFINITY, body: true },
			);
			for await (const page of naming) {
				for (const job of page) {
					const isOwn = kind?.subjectOf(job.body ?? "") === user;
					if (isOwn && state !== "running") own.push({ ...job, body: null });
					else others++;
				}
			}
			deleted += isDryRun ? own.length : await remove(store, queue, own);
		}
		if (others > 0) staying.push({ queue, jobs: others });
	}
	return { deleted, staying };
}

async function remove(
	store: JobAdmin,
	queue: string,
	jobs: readonly JobOnShard[],
): Promise<number> {
	let removed = 0;
	for (const [shard, some] of Map.groupBy(jobs, (job) => job.shard)) {
		for (let at = 0; at < some.length; at += MAX_JOBS) {
			const part = some.slice(at, at + MAX_JOBS);
			removed += await store.change({ queue, shard }, part, { kind: "remove" });
		}
	}
	return removed;
}
