import type { FeedWork } from "../feed/jobs/feedContext.ts";
import type { Store } from "../graph/store/store.ts";
import type { Id } from "../id/ids.ts";
import type { StoredTypes } from "../model/storedTypes.ts";
import type { Jobs } from "../queue/enqueue/jobs.ts";

/** What the handlers of jobs get. */
export interface JobContext {
	/** The shards and caches of the graph. */
	readonly store: Store;
	/** What stored values are checked against. */
	readonly storedTypes: StoredTypes;
	/** Null if this process has no pools of home feeds. */
	readonly feed: FeedWork | null;
	/** Deletes what is kept of a deleted object outside the graph. */
	readonly forget: (id: Id) => Promise<void>;
	/** To enqueue further jobs. */
	readonly jobs: Jobs;
	/** Runs a GraphQL operation of a viewer; null: nobody is signed in. */
	readonly query: (
		source: string,
		options?: {
			readonly viewer?: Id | null;
			readonly variables?: Readonly<Record<string, unknown>>;
		},
	) => Promise<{ readonly data?: unknown; readonly errors?: unknown }>;
}
