import { CorkboardError } from "../errors.ts";
import { feedJobs } from "../feed/jobs/jobs.ts";
import { graphJobs } from "../ops/jobs/jobs.ts";
import type { AnyJob } from "../queue/job.ts";
import { nearest } from "../util/nearest.ts";
import type { JobContext } from "./jobContext.ts";
import { jobs } from "./jobs.ts";

/** Every kind of job that this program can run. */
export const JOB_KINDS: readonly AnyJob<JobContext>[] = [
	...graphJobs,
	...feedJobs,
	...jobs,
];

/** The names of their queues. */
export const JOB_QUEUES: readonly string[] = JOB_KINDS.map(
	({ queue }) => queue,
);

/** The kinds with these queues; null: all. Throws BAD_CONFIG for a queue that no kind has. */
export function jobKindsOf(
	queues: readonly string[] | null,
): readonly AnyJob<JobContext>[] {
	if (queues === null) return JOB_KINDS;
	const unknown = queues.filter((queue) => !JOB_QUEUES.includes(queue));
	if (unknown.length > 0) {
		const meant = nearest(unknown[0] as string, JOB_QUEUES);
		throw new CorkboardError(
			"BAD_CONFIG",
			`No handler of this program runs jobs of ${unknown.join(", ")}.${meant ? ` Did you mean ${meant}?` : ""} Queues: ${JOB_QUEUES.join(", ") || "none"}.`,
		);
	}
	return JOB_KINDS.filter(({ queue }) => queues.includes(queue));
}
