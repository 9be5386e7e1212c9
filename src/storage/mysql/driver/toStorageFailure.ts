import { reasonOf } from "../../../util/reasonOf.ts";
import { type FailureKind, StorageFailure } from "../../storageFailure.ts";

/** ER_LOCK_DEADLOCK */
const DEADLOCK = 1213;
/** ER_LOCK_WAIT_TIMEOUT, ER_LOCK_DEADLOCK, and MariaDB's ER_CHECKREAD: the row changed since it was read. */
const CONFLICTS = new Set([1205, DEADLOCK, 1020]);
/** ER_SCHEMA_READ_ONLY: an operator made one database read-only. */
const SCHEMA_READ_ONLY = 3989;
/** ER_READ_ONLY_MODE */
export const READ_ONLY_MODE = 1836;
/** ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE */
const READ_ONLY = new Set([1290, 1792, READ_ONLY_MODE, SCHEMA_READ_ONLY]);
/** ER_BAD_DB_ERROR, ER_NO_SUCH_TABLE */
const MOVED = new Set([1049, 1146]);
/** ER_QUERY_INTERRUPTED, MySQL's ER_QUERY_TIMEOUT, MariaDB's ER_STATEMENT_TIMEOUT */
const INTERRUPTED = new Set([1317, 3024, 1969]);
/** ER_CON_COUNT_ERROR, ER_TOO_MANY_USER_CONNECTIONS, ER_USER_LIMIT_REACHED */
const FULL = new Set([1040, 1203, 1226]);
/** ER_SERVER_SHUTDOWN, ER_ABORTING_CONNECTION, ER_CONNECTION_KILLED (1927 in MariaDB), ER_CLIENT_INTERACTION_TIMEOUT */
const ENDED = new Set([1053, 1152, 1927, 3169, 4031]);

/** ER_NET_PACKET_TOO_LARGE: the server ends the connection, too, but another one would not help. */
const TOO_LARGE = 1153;

/** ER_DISK_FULL, ER_RECORD_FILE_FULL, and MySQL's ER_DISK_FULL_NOWAIT */
const DISK_FULL = new Set([1021, 1114, 3675]);
/** ENOSPC, as the text of other errors has it: of writing a file, of a storage engine. */
const NO_SPACE = /No space left on device|\berr(?:or|no):? 28\b/i;

/** ER_TRUNCATED_WRONG_VALUE_FOR_FIELD */
const WRONG_VALUE = 1366;

/**
 * The error that mysql2 gave an operation. That one is not kept as its cause: until somebody
 * reads its stack it holds the connection, with its socket and buffers, and errors
 * are kept with the requests that failed. Its text may hold a statement's values, too.
 */
export function toStorageFailure(
	thrown: unknown,
	host: string,
	statement: string,
): StorageFailure {
	const { errno, sqlState, message } = asDriverError(thrown);
	if (errno === undefined || sqlState === undefined) {
		return new StorageFailure("connectionLost", message, {
			host,
			statement,
		});
	}
	return new StorageFailure(kindOf(errno, sqlState, message), message, {
		host,
		statement,
		errno,
	});
}

/** Errors of the system have no SQL state; those of the server do. */
export function isFromServer(thrown: unknown): boolean {
	const { errno, sqlState } = asDriverError(thrown);
	return errno !== undefined && sqlState !== undefined;
}

function kindOf(errno: number, sqlState: string, message: string): FailureKind {
	if (CONFLICTS.has(errno)) return "conflict";
	if (READ_ONLY.has(errno)) return "readOnly";
	if (MOVED.has(errno)) return "moved";
	if (INTERRUPTED.has(errno)) return "timeout";
	if (FULL.has(errno)) return "poolExhausted";
	if (errno === TOO_LARGE) return "failed";
	if (ENDED.has(errno) || sqlState.startsWith("08")) return "connectionLost";
	if (DISK_FULL.has(errno)) return "diskFull";
	// Data exceptions and broken constraints. MySQL gives this one no class.
	const isRow = sqlState.startsWith("22") || sqlState.startsWith("23");
	if (isRow || errno === WRONG_VALUE) return "constraint";
	return NO_SPACE.test(message) ? "diskFull" : "failed";
}

/** Whether the server ends the connection after this error. */
export function endsConnection({ kind, errno }: StorageFailure): boolean {
	return errno === null || errno === TOO_LARGE || kind === "connectionLost";
}

/** Whether the failure is that of one database: the host's others work, and so does the connection. */
export function isOfOneDatabase({ errno }: StorageFailure): boolean {
	return errno === SCHEMA_READ_ONLY;
}

/** Why rows of others stood in the way; null for any other failure. */
export function conflictReason(
	thrown: unknown,
): "deadlock" | "lockWait" | null {
	if (!(thrown instanceof StorageFailure) || thrown.kind !== "conflict")
		return null;
	return thrown.errno === DEADLOCK ? "deadlock" : "lockWait";
}

export function refusesWrites(thrown: unknown): boolean {
	return thrown instanceof StorageFailure && thrown.kind === "readOnly";
}

/** Not this process, and not one database that an operator made read-only. */
export function isFromReadOnlyServer(thrown: unknown): boolean {
	if (!(thrown instanceof StorageFailure)) return false;
	if (thrown.kind === "unknownOutcome") {
		return isFromReadOnlyServer(thrown.cause);
	}
	return (
		thrown.kind === "readOnly" &&
		thrown.errno !== null &&
		!isOfOneDatabase(thrown)
	);
}

export function isRepeatable(thrown: unknown): boolean {
	return thrown instanceof StorageFailure && thrown.kind === "connectionLost";
}

/** ER_CLIENT_INTERACTION_TIMEOUT, of MySQL only. */
export function isClientTimeout(thrown: unknown): boolean {
	return thrown instanceof StorageFailure && thrown.errno === 4031;
}

function asDriverError(thrown: unknown): {
	readonly message: string;
	readonly errno?: number;
	readonly sqlState?: string;
} {
	if (!(thrown instanceof Error)) return { message: reasonOf(thrown) };
	const { message } = thrown;
	const { errno, sqlState } = thrown as {
		readonly errno?: unknown;
		readonly sqlState?: unknown;
	};
	return {
		message,
		...(typeof errno === "number" && { errno }),
		...(typeof sqlState === "string" && { sqlState }),
	};
}
