import type { Store } from "../graph/store/store.ts";
import type { Id } from "../id/ids.ts";
import type { NewestOptions } from "./candidates/newest.ts";
import type { FeedModel } from "./feedModel.ts";
import type { PoolEntry, PoolStore } from "./pools/pools.ts";
import type { BoundedRanker } from "./ranker.ts";

/** What the home feed is made of, shared by all requests of a process. */
export interface FeedParts {
	readonly model: FeedModel;
	readonly store: Store;
	readonly pools: PoolStore;
	readonly ranker: BoundedRanker;
	/** Milliseconds since 1970. */
	readonly now: () => number;
	/**
	 * Items of producers that the user follows and that do not push them, made after
	 * `since`; `onUnread` is called where some cannot be read. Null: nothing fills the pools, so each look reads those whom the user follows.
	 */
	readonly pull:
		| ((
				user: Id,
				since: number,
				options: Pick<NewestOptions, "onUnread">,
		  ) => Promise<readonly PoolEntry[]>)
		| null;
	/** Enqueues the job that settles the pool of a user; null if no jobs are run. */
	readonly settleLater: ((user: Id) => Promise<unknown>) | null;
	/** Enqueues the job that fills the pool of a user from what it follows; null if no jobs are run. */
	readonly rebuildLater: ((user: Id) => Promise<unknown>) | null;
}
