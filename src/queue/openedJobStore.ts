import type { QueueRange } from "../topology/types.ts";
import type { JobAdmin, JobStore } from "./jobStore.ts";
import type { RotationStore } from "./rotationStore.ts";

/** Where the jobs are, as plain data: a thread opens its own store from it. */
export interface JobStoreSource {
	readonly queues: readonly QueueRange[];
	/** The version of the topology that says so (default 0: nobody asks). */
	readonly version?: number;
}

/** All that a store of jobs does. Callers take the port that they use. */
export interface QueueStore extends JobStore, JobAdmin, RotationStore {}

/** A job store as it is opened: the hosts of its shards can change while it is used. */
export interface OpenedJobStore extends QueueStore {
	/** New calls go to the hosts of a newer version of the topology; a call ends on the version that it began with. */
	switchTo(source: JobStoreSource): void;
	/**
	 * Ends all claims of an embedded folder, which its new owner calls before it
	 * claims anything: a process that claimed a job there before has gone. Its claim may
	 * end hours from now by this machine's clock, if that was ahead then. Other
	 * stores have no owner and end none.
	 */
	endFormerClaims(): Promise<void>;
	/** The oldest version on which a call still runs. */
	readonly oldestVersion: number;
}
