/**
 * What went wrong with a statement, by what has to be done about it:
 *
 * - `lost`: there is no connection, or there was one.
 * - `late`: no answer in time; whether the statement was run is unknown.
 * - `busy`: no connection came free in time, or too many wait for one.
 * - `conflict`: a deadlock or a lock waited for in vain; the transaction may be run again.
 * - `readOnly`: the server takes no writes, as after a promotion; PROTOCOLS §6.
 * - `refused`: a row breaks a rule of its table.
 * - `unfit`: the server's version or settings are not what we rely on.
 * - `failed`: whatever else the server said.
 */
export type FailureKind =
	| "lost"
	| "late"
	| "busy"
	| "conflict"
	| "readOnly"
	| "refused"
	| "unfit"
	| "failed";

/** For the log: it names the host and carries the server's own words. Storage words what a client may see. */
export class StorageFailure extends Error {
	readonly kind: FailureKind;
	/** As `host:port`. */
	readonly host: string;
	/** As `Statement.name`. */
	readonly statement: string;
	/** The server's error number; null where the server said nothing. */
	readonly errno: number | null;

	constructor(
		kind: FailureKind,
		message: string,
		options: {
			readonly host: string;
			readonly statement: string;
			readonly errno?: number;
			readonly cause?: unknown;
		},
	) {
		super(message, "cause" in options ? { cause: options.cause } : undefined);
		this.name = "MysqlFailure";
		this.kind = kind;
		this.host = options.host;
		this.statement = options.statement;
		this.errno = options.errno ?? null;
	}
}

/** COMMIT was sent and its answer did not come, or was an error: it may or may not be done. */
export class UnknownOutcome extends Error {
	constructor(cause: unknown) {
		super("expected an answer to COMMIT but got: none that tells", { cause });
		this.name = "UnknownOutcome";
	}
}

/** ER_LOCK_WAIT_TIMEOUT, ER_LOCK_DEADLOCK, and MariaDB's ER_CHECKREAD: the row changed since it was read. */
const CONFLICTS = new Set([1205, 1213, 1020]);
/** ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE */
const READ_ONLY = new Set([1290, 1792, 1836]);
/** ER_QUERY_INTERRUPTED, MySQL's ER_QUERY_TIMEOUT, MariaDB's ER_STATEMENT_TIMEOUT */
const INTERRUPTED = new Set([1317, 3024, 1969]);
/** ER_CON_COUNT_ERROR, ER_TOO_MANY_USER_CONNECTIONS, ER_USER_LIMIT_REACHED */
const FULL = new Set([1040, 1203, 1226]);
/** ER_SERVER_SHUTDOWN, ER_ABORTING_CONNECTION, ER_CONNECTION_KILLED (1927 in MariaDB), ER_CLIENT_INTERACTION_TIMEOUT */
const ENDED = new Set([1053, 1152, 1927, 3169, 4031]);

/** ER_TRUNCATED_WRONG_VALUE_FOR_FIELD */
const WRONG_VALUE = 1366;

/** What mysql2 gave an operation as its error. */
export function toStorageFailure(
	thrown: unknown,
	host: string,
	statement: string,
): StorageFailure {
	const { errno, sqlState, message } = asDriverError(thrown);
	// mysql2 hangs the whole text on its errors, with whatever values are in it: no log is to have them.
	if (thrown instanceof Error && "sql" in thrown) delete thrown.sql;
	// The system's own errors have negative numbers; the server's come with a state.
	if (errno === undefined || sqlState === undefined) {
		return new StorageFailure("lost", message, {
			host,
			statement,
			cause: thrown,
		});
	}
	return new StorageFailure(kindOf(errno, sqlState), message, {
		host,
		statement,
		errno,
		cause: thrown,
	});
}

function kindOf(errno: number, sqlState: string): FailureKind {
	if (CONFLICTS.has(errno)) return "conflict";
	if (READ_ONLY.has(errno)) return "readOnly";
	if (INTERRUPTED.has(errno)) return "late";
	if (FULL.has(errno)) return "busy";
	if (ENDED.has(errno) || sqlState.startsWith("08")) return "lost";
	// Data exceptions and broken constraints; MySQL has this one under no class.
	const isRow = sqlState.startsWith("22") || sqlState.startsWith("23");
	if (isRow || errno === WRONG_VALUE) return "refused";
	return "failed";
}

function asDriverError(thrown: unknown): {
	readonly message: string;
	readonly errno?: number;
	readonly sqlState?: string;
} {
	if (!(thrown instanceof Error)) return { message: String(thrown) };
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
