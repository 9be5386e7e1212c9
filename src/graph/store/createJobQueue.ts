import { CorkboardError } from "../../errors.ts";
import type { Jobs, PlacedJob } from "../../queue/enqueue/jobs.ts";
import { checkLocalId } from "../../queue/jobId.ts";
import type { JobStore } from "../../queue/jobStore.ts";
import type { KeyResult } from "../../storage/rows.ts";
import { checkEntryBody, type EntryJob, type JobQueue } from "./jobQueue.ts";

/** The queue as writes of the graph use it: their outbox entries carry jobs. */
export function createJobQueue(jobs: Jobs, store: JobStore): JobQueue {
	return {
		async prepare() {
			if (store.openShards.length === 0) return null;
			const place = await jobs.prepare();
			return ({ queue, body, allowed, dueMs = 0, ...options }) =>
				place(queue, checkEntryBody(body), {
					...options,
					attempts: allowed,
					delayMs: Math.max(0, dueMs - Date.now()),
				});
		},
		async enqueue(entries, isRepeat) {
			const results = new Map<EntryJob, KeyResult<null>>();
			const groups = Map.groupBy(
				entries,
				({ queue, shard }) => `${queue} ${shard}`,
			);
			await Promise.all(
				[...groups.values()].map(async (group) => {
					const result = await attempt(() =>
						jobs.enqueuePlaced(group.map(placed), isRepeat),
					);
					for (const entry of group) results.set(entry, result);
				}),
			);
			return entries.map((entry) => results.get(entry) ?? null);
		},
		hostOf: (shard) => store.hostOf(shard),
	};
}

async function attempt(
	run: () => Promise<unknown>,
): Promise<CorkboardError | null> {
	try {
		await run();
		return null;
	} catch (error) {
		if (error instanceof CorkboardError) return error;
		throw error;
	}
}

function placed(entry: EntryJob): PlacedJob {
	return { ...entry, local: checkLocalId(entry.local) };
}
