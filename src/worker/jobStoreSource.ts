import type { JobStore } from "../queue/jobStore.ts";
import { openSqliteJobStore } from "../queue/sqlite/sqliteJobStore.ts";
import type { QueueRange } from "../topology/types.ts";

/** Where the jobs are, as plain data: a thread opens its own store from it. */
export interface JobStoreSource {
	readonly queues: readonly QueueRange[];
}

export async function openJobStoreOf({
	queues,
}: JobStoreSource): Promise<JobStore> {
	return openSqliteJobStore({ queues });
}
