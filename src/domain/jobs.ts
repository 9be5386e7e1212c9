import type { AnyJob } from "../queue/job.ts";
import type { JobContext } from "./jobContext.ts";

/** The kinds of jobs of the product, one for each queue. */
export const jobs: readonly AnyJob<JobContext>[] = [];
