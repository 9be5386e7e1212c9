import type { AnyJob } from "../../queue/job.ts";
import type { FeedJobContext } from "./feedContext.ts";
import { feedItem } from "./feedItem.ts";
import { feedUser } from "./feedUser.ts";

/** The kinds of jobs of the home feed, one for each queue. */
export const feedJobs: readonly AnyJob<FeedJobContext>[] = [feedItem, feedUser];
