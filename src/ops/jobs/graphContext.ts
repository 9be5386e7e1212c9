import type { Store } from "../../graph/store/store.ts";
import type { Id } from "../../id/ids.ts";
import type { StoredTypes } from "../../model/storedTypes.ts";
import type { EnqueuesJobs } from "../../queue/job.ts";

/** What the jobs of the graph work with. */
export interface GraphContext {
	readonly store: Store;
	/** What stored values are checked against; absent: their types are not checked. */
	readonly storedTypes?: StoredTypes;
	readonly jobs: EnqueuesJobs;
	/** Deletes what is stored of a deleted object outside the graph. Absent if nothing is stored there. Repeating it changes nothing. */
	readonly forget?: (id: Id) => Promise<void>;
}
