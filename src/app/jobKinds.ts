import { CorkboardError } from "../errors.ts";
import { feedJobs } from "../feed/jobs/jobs.ts";
import { graphJobs } from "../ops/jobs/jobs.ts";
import type { AnyJob } from "../queue/job.ts";
import { nearest } from "../util/nearest.ts";
import type { App } from "./defineApp.ts";
import type { JobContext } from "./jobContext.ts";

/** Every kind of job that a program with this app can run. */
function allJobKindsOf({
	feed,
	jobs = [],
}: App): readonly AnyJob<JobContext>[] {
	return [...graphJobs, ...(feed === undefined ? [] : feedJobs), ...jobs];
}

/** The names of their queues. */
export function jobQueuesOf(app: App): readonly string[] {
	return allJobKindsOf(app).map(({ queue }) => queue);
}

/** The kinds with these queues; null: all. Throws BAD_CONFIG for a queue that no kind has. */
export function jobKindsOf(
	app: App,
	queues: readonly string[] | null,
): readonly AnyJob<JobContext>[] {
	const kinds = allJobKindsOf(app);
	if (queues === null) return kinds;
	const known = jobQueuesOf(app);
	const unknown = queues.filter((queue) => !known.includes(queue));
	if (unknown.length > 0) {
		const meant = nearest(unknown[0] as string, known);
		throw new CorkboardError(
			"BAD_CONFIG",
			`No handler of this program runs jobs of ${unknown.join(", ")}.${meant ? ` Did you mean ${meant}?` : ""} Queues: ${known.join(", ") || "none"}.`,
		);
	}
	return kinds.filter(({ queue }) => queues.includes(queue));
}
