import type { LocalId } from "../jobId.ts";
import type {
	CountedJobs,
	Job,
	JobKey,
	JobScan,
	ScannedJobs,
} from "../jobStore.ts";
import { countJobs, findJobs, scanJobs } from "../statements/jobs.ts";
import { byBucket, jobOf } from "../statements/rows.ts";
import type { QueueCall } from "./queueCall.ts";

export async function findAll(
	call: QueueCall,
	jobs: readonly JobKey[],
	body: boolean,
): Promise<readonly (Job | null)[]> {
	const found = new Map<LocalId, Job>();
	const add = async (
		some: readonly JobKey[],
		options: { readonly bucket?: number },
	) => {
		const select = findJobs(call.tables, some, { body, ...options });
		for (const job of await call.select(select)) {
			found.set(job.head.local, jobOf(job));
		}
	};
	await Promise.all(
		byBucket(jobs).map(([bucket, some]) => add(some, { bucket })),
	);
	const missing = jobs.filter(({ local }) => !found.has(local));
	if (missing.length > 0) await add(missing, {});
	return jobs.map(({ local }) => found.get(local) ?? null);
}

export async function scanQueue(
	call: QueueCall,
	scan: JobScan,
): Promise<ScannedJobs> {
	const rows = await call.select(scanJobs(call.tables, scan));
	const last = rows.at(-1)?.head;
	return {
		jobs: rows.filter(({ isMatching }) => isMatching).map(jobOf),
		next:
			last === undefined || rows.length < scan.limit
				? null
				: { at: last.at, local: last.local },
	};
}

export async function countQueue(
	call: QueueCall,
	of: CountedJobs,
	cap: number,
): Promise<number> {
	const [count = 0] = await call.select(countJobs(call.tables, of, cap));
	return count;
}
