import type { Store } from "../../graph/store/store.ts";
import type { Id } from "../../id/ids.ts";
import type { StoredTypes } from "../../model/storedTypes.ts";
import type { Job } from "../../queue/job.ts";

/** What the jobs of the graph work with. */
export interface GraphContext {
	readonly store: Store;
	/** What stored values are checked against; absent: their types are not checked. */
	readonly storedTypes?: StoredTypes;
	readonly jobs: EnqueuesJobs;
	/** Deletes what is kept of a deleted object outside the graph; absent: nothing is. Repeating it changes nothing. */
	readonly forget?: (id: Id) => Promise<void>;
}

/** The part of `Jobs` that these jobs use. */
export interface EnqueuesJobs {
	enqueueAll<Input>(
		kind: Job<Input, never>,
		jobs: readonly {
			readonly body: Input;
			readonly key?: string;
			readonly delayMs?: number;
			readonly priority?: 1 | 2 | 3;
		}[],
	): Promise<unknown>;
}
