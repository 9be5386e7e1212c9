import type { JobStore } from "../queue/jobStore.ts";
import {
	jobHosts,
	MYSQL_JOB_LIMITS,
	openMysqlJobStore,
} from "../queue/mysql/mysqlJobStore.ts";
import type { RotationStore } from "../queue/rotationStore.ts";
import { openSqliteJobStore } from "../queue/sqlite/sqliteJobStore.ts";
import type { HostWriteGuard } from "../storage/mysql/driver/commitProtocol.ts";
import { parseHostUrl } from "../topology/hostUrl.ts";
import type { QueueRange } from "../topology/types.ts";

/** Where the jobs are, as plain data: a thread opens its own store from it. */
export interface JobStoreSource {
	readonly queues: readonly QueueRange[];
}

export interface JobStoreOptions {
	/** SQLite refuses to write. */
	readonly readOnly?: boolean;
	/** MySQL hosts that the stores of other versions of the topology share. */
	readonly hosts?: ReturnType<typeof jobHosts>;
}

/** Opens the store of one version after another, which share the hosts that they have in common, and ask before they write to one. */
export function jobStoreOpener(
	guard: HostWriteGuard | null = null,
): (source: JobStoreSource) => JobStore & RotationStore {
	const hosts = jobHosts(MYSQL_JOB_LIMITS, process.env, guard);
	return (source) => openJobStoreOf(source, { hosts });
}

/** Opens nothing before it is needed. All ranges are on hosts of one kind. */
export function openJobStoreOf(
	{ queues }: JobStoreSource,
	{ readOnly = false, hosts }: JobStoreOptions = {},
): JobStore & RotationStore {
	const isSqlite = queues.some(
		({ primary }) => parseHostUrl(primary)?.scheme === "sqlite",
	);
	return isSqlite
		? openSqliteJobStore({ queues, readOnly })
		: openMysqlJobStore({ queues, ...(hosts && { hosts }) });
}
