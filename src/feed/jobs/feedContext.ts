import type { Store } from "../../graph/store/store.ts";
import type { Id } from "../../id/ids.ts";
import { type EnqueuesJobs, Later } from "../../queue/job.ts";
import type { PulledProducers } from "../candidates/pulledProducers.ts";
import type { FeedModel } from "../feedModel.ts";
import type { Pools } from "../pools/pools.ts";
import type { BoundedRanker } from "../ranker.ts";

/** What the jobs of the home feed work with. */
export interface FeedJobContext {
	readonly store: Store;
	readonly jobs: EnqueuesJobs;
	/** Null if this process has no pools. */
	readonly feed: FeedWork | null;
}

export interface FeedWork {
	readonly model: FeedModel;
	readonly pools: Pools;
	readonly pulled: PulledProducers;
	/** Whether items that came through somebody who is unfollowed leave the feed too. */
	readonly removesUnfollowed: boolean;
	/** Says what an item is worth to each user, from 0 to 1,000. */
	readonly ranker: Pick<BoundedRanker, "score">;
	/** Brings the pool of a user in line with its feed. */
	readonly settle: (user: Id) => Promise<void>;
	/** Milliseconds since 1970. */
	readonly now: () => number;
}

/** Between two tries of a worker that has no pools. */
const NO_POOLS_MS = 60_000;

/** Throws Later if this process has no pools: another worker may. */
export function feedOf({ feed }: FeedJobContext): FeedWork {
	if (feed !== null) return feed;
	throw new Later(
		NO_POOLS_MS,
		"The home feed is off in this worker, or its topology has no pools.",
	);
}
