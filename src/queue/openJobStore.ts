import type { HostWriteGuard } from "../storage/mysql/driver/commitProtocol.ts";
import { parseHostUrl } from "../topology/hostUrl.ts";
import { openMysqlJobStore } from "./mysql/mysqlJobStore.ts";
import type { JobStoreSource, OpenedJobStore } from "./openedJobStore.ts";
import { openSqliteJobStore } from "./sqlite/sqliteJobStore.ts";

interface JobStoreOptions {
	/** SQLite refuses to write. */
	readonly readOnly?: boolean;
	/** Asked before each write to a host of MySQL. */
	readonly writeGuard?: HostWriteGuard | null;
	/** Called when `oldestVersion` may have risen. */
	readonly onRetired?: (() => void) | undefined;
}

/** Opens nothing before it is needed. All ranges are on hosts of one kind. */
export function openJobStoreOf(
	source: JobStoreSource,
	{ readOnly = false, ...options }: JobStoreOptions = {},
): OpenedJobStore {
	const isSqlite = source.queues.some(
		({ primary }) => parseHostUrl(primary)?.scheme === "sqlite",
	);
	return isSqlite
		? openSqliteJobStore({ ...source, readOnly })
		: openMysqlJobStore({ ...source, ...options });
}
