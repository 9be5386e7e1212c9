import type { JobContext } from "../src/app/jobContext.ts";
import type { AnyJob } from "../src/queue/job.ts";

/** The kinds of jobs of this app, one for each queue. */
export const jobs: readonly AnyJob<JobContext>[] = [];
