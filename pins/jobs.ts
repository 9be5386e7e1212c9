import type { AnyJob, JobContext } from "corkboard";

/** The kinds of jobs of this app, one for each queue. */
export const jobs: readonly AnyJob<JobContext>[] = [];
