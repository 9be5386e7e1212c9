import { TOPOLOGY_CHANNELS } from "../../../topology/diagnostics.ts";
import type { Deadline } from "../../../util/deadline.ts";
import { StorageFailure } from "../../storageFailure.ts";
import type { ServerIdentity } from "./currentServer.ts";
import type { Product, Row } from "./mysql2Connection.ts";
import type { MysqlConnection, Sql } from "./mysqlConnection.ts";

/**
 * What a connection is for:
 *
 * - `single`: reads, and writes of one statement, which commit by themselves.
 * - `transaction`: the first statement begins one, so that BEGIN costs no round trip.
 * - `read`: as `single`, and the server refuses writes.
 */
export type Purpose = "single" | "transaction" | "read";

export interface SessionOptions {
	readonly purpose: Purpose;
	/** The server stops a statement after this long. Milliseconds; 0 for no limit. */
	readonly statementMs: number;
	/** See `HostLimits.silenceMs`. */
	readonly silenceMs: number;
	/** See `HostLimits.leanBinlog`. */
	readonly leanBinlog?: boolean | undefined;
}

/**
 * How long a statement waits for a row lock, or for a table that a DDL statement
 * holds, in seconds. A DDL statement that waits keeps all others of its table
 * waiting, even when its client is gone.
 */
const LOCK_WAIT_S = 2;

/** None of these changes how quoted text is read, on which the client's escaping relies. */
const SQL_MODE =
	"STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO";

/** MySQL has VALUES as a table since 8.0.19. */
const OLDEST: Readonly<Record<Product, readonly number[]>> = {
	MySQL: [8, 0, 19],
	MariaDB: [10, 11, 0],
};

/**
 * What each server is called, and whether MySQL's has GTIDs: each product skips
 * the other's comment. MariaDB has a `server_uid` in its newest versions only.
 */
const IDENTITY = `/*!80000 @@global.server_uuid, @@global.gtid_mode */
		/*M! CONCAT_WS(' ', @@global.server_id, @@hostname, @@global.port), '' */`;

const READ_ONLY_SERVER = "@@global.read_only, @@global.innodb_read_only";

const SETTINGS: Sql = {
	name: "settings",
	text: `SELECT @@version, @@auto_increment_increment,
		@@innodb_flush_log_at_trx_commit,
		${READ_ONLY_SERVER}, ${IDENTITY},
		UNIX_TIMESTAMP(NOW(6)) * 1000`,
	values: [],
};

/**
 * Asks the server who it is, checks the settings that only its operator can
 * change, and sets the others for this session. Connections are not reset between uses:
 * COM_RESET_CONNECTION would undo the settings, and a transaction leaves nothing
 * else behind.
 */
export async function prepareSession(
	connection: MysqlConnection,
	host: string,
	options: SessionOptions,
	deadline: Deadline,
): Promise<{ readonly product: Product; readonly server: ServerIdentity }> {
	const asked = Date.now();
	const [row = []] = await connection.rows(SETTINGS, deadline);
	if (TOPOLOGY_CHANNELS.databaseClock.hasSubscribers) {
		// A connection lives for minutes, so its first answer is a look often enough.
		const at = Number(row.at(-1));
		TOPOLOGY_CHANNELS.databaseClock.publish({
			host,
			least: at - Date.now(),
			most: at - asked,
		});
	}
	const [version, increment, flush, readOnly, innodbReadOnly, id, gtidMode] =
		row.map(String);
	const product = checkSettings(host, {
		version: version ?? "",
		increment: increment ?? "",
		flush: flush ?? "",
	});
	await connection.run(sessionOf(product, options), deadline);
	if (options.purpose === "read") {
		await connection.run(READ_ONLY, deadline);
	}
	if (options.leanBinlog) await leaveTextsOut(connection, deadline);
	return {
		product,
		server: {
			id: id ?? "",
			takesWrites: takesWrites([readOnly, innodbReadOnly]),
			hasGtids: gtidMode === "ON",
		},
	};
}

/** MariaDB's newest versions name the values of `read_only`. */
export function takesWrites(row: Row = []): boolean {
	return row.length > 0 && row.every((value) => /^(0|OFF)$/.test(`${value}`));
}

/** Whether the server takes writes, as `takesWrites` reads it. */
export const TAKES_WRITES: Sql = {
	name: "takes writes",
	text: `SELECT ${READ_ONLY_SERVER}`,
	values: [],
};

/** The `id` of the server that a connection leads to. */
export async function serverOf(
	connection: MysqlConnection,
	deadline: Deadline,
): Promise<string> {
	const [row = []] = await connection.rows(
		{ name: "server", text: `SELECT ${IDENTITY}`, values: [] },
		deadline,
	);
	return String(row[0]);
}

/** It saves bytes and changes nothing else, so it is left if the user may not set it. */
async function leaveTextsOut(
	connection: MysqlConnection,
	deadline: Deadline,
): Promise<void> {
	try {
		await connection.run(NO_BLOBS, deadline);
	} catch (thrown) {
		const isRefused =
			thrown instanceof StorageFailure && NOT_ALLOWED.has(thrown.errno ?? 0);
		if (!isRefused) throw thrown;
	}
}

const NO_BLOBS: Sql = {
	name: "lean binlog",
	text: "SET SESSION binlog_row_image = 'NOBLOB'",
	values: [],
};

/** ER_SPECIFIC_ACCESS_DENIED_ERROR, ER_UNKNOWN_SYSTEM_VARIABLE */
const NOT_ALLOWED = new Set([1227, 1193]);

const READ_ONLY: Sql = {
	name: "read only",
	text: "SET SESSION TRANSACTION READ ONLY",
	values: [],
};

function sessionOf(
	product: Product,
	{ purpose, statementMs, silenceMs }: SessionOptions,
): Sql {
	const isolation =
		product === "MySQL" ? "transaction_isolation" : "tx_isolation";
	// The server itself stops a statement whose client is gone. MySQL does so for
	// SELECT only; the locks of a transaction end with its connection.
	const stop =
		product === "MySQL"
			? `max_execution_time = ${Math.ceil(statementMs)}`
			: `max_statement_time = ${statementMs / 1_000}`;
	return {
		name: "session",
		text: `SET SESSION ${isolation} = 'READ-COMMITTED', time_zone = '+00:00',
			sql_mode = ?, innodb_lock_wait_timeout = ${LOCK_WAIT_S},
			lock_wait_timeout = ${LOCK_WAIT_S}, ${stop},
			${silenceLimits(product, purpose, Math.ceil(silenceMs / 1_000))},
			${product === "MySQL" ? "information_schema_stats_expiry = 0," : ""}
			${product === "MySQL" && purpose !== "read" ? "session_track_gtids = 'OWN_GTID'," : ""}
			autocommit = ${purpose === "transaction" ? 0 : 1}`,
		values: [SQL_MODE],
	};
}

/**
 * After so many seconds the server ends a connection whose client does not read
 * a result or send the rest of a statement, and one for transactions also if no
 * statement comes: with it the locks end. In a transaction MariaDB prefers its
 * own settings. `interactive_timeout` counts at connect only.
 */
function silenceLimits(
	product: Product,
	purpose: Purpose,
	seconds: number,
): string {
	const names = ["net_read_timeout", "net_write_timeout"];
	if (purpose === "transaction") {
		names.push("wait_timeout");
		if (product === "MariaDB") {
			names.push(
				"idle_transaction_timeout",
				"idle_readonly_transaction_timeout",
				"idle_write_transaction_timeout",
			);
		}
	}
	return names.map((name) => `${name} = ${seconds}`).join(", ");
}

/** Throws a failure of kind `unsupported` with everything that is wrong with the server. */
export function checkSettings(
	host: string,
	settings: {
		readonly version: string;
		readonly increment: string;
		readonly flush: string;
	},
): Product {
	const { version, increment, flush } = settings;
	const product = /mariadb/i.test(version) ? "MariaDB" : "MySQL";
	const problems: string[] = [];
	if (!isAtLeast(version, OLDEST[product])) {
		problems.push(
			`MySQL 8.0.19 or MariaDB 10.11, or later, is required, got ${product} ${version}`,
		);
	}
	// The ids of rows inserted by one statement are derived from the first.
	if (increment !== "1") {
		problems.push(`auto_increment_increment must be 1, got ${increment}`);
	}
	// With 0, a killed server loses writes that it had acknowledged.
	if (flush === "0") {
		problems.push("innodb_flush_log_at_trx_commit must be 1 or 2, got 0");
	}
	if (problems.length > 0) {
		throw new StorageFailure("unsupported", problems.join("; "), {
			host,
			statement: SETTINGS.name,
		});
	}
	return product;
}

function isAtLeast(version: string, oldest: readonly number[]): boolean {
	const numbers = version.split(".").map((part) => Number.parseInt(part, 10));
	for (const [at, least] of oldest.entries()) {
		const number = numbers[at] ?? 0;
		if (number !== least) return number > least;
	}
	return true;
}
