import type { JobStore } from "../queue/jobStore.ts";
import { openMysqlJobStore } from "../queue/mysql/mysqlJobStore.ts";
import type { RotationStore } from "../queue/rotationStore.ts";
import { openSqliteJobStore } from "../queue/sqlite/sqliteJobStore.ts";
import { parseHostUrl } from "../topology/hostUrl.ts";
import type { QueueRange } from "../topology/types.ts";

/** Where the jobs are, as plain data: a thread opens its own store from it. */
export interface JobStoreSource {
	readonly queues: readonly QueueRange[];
}

/** Opens nothing before it is needed. All ranges are on hosts of one kind. `readOnly`: SQLite refuses to write. */
export function openJobStoreOf(
	{ queues }: JobStoreSource,
	{ readOnly = false }: { readonly readOnly?: boolean } = {},
): JobStore & RotationStore {
	const isSqlite = queues.some(
		({ primary }) => parseHostUrl(primary)?.scheme === "sqlite",
	);
	return isSqlite
		? openSqliteJobStore({ queues, readOnly })
		: openMysqlJobStore({ queues });
}
