import type { Deadline } from "../../../util/deadline.ts";
import { StorageFailure } from "../../storageFailure.ts";
import type { MysqlConnection, Sql } from "./mysqlConnection.ts";

/**
 * What a connection is for:
 *
 * - `single`: reads, and writes of one statement, which commit by themselves.
 * - `transaction`: the first statement begins one, so that BEGIN costs no round trip.
 * - `read`: as `single`, and the server refuses writes.
 */
export type Purpose = "single" | "transaction" | "read";

/** How long a statement waits for another's row lock, in seconds: PROTOCOLS §1. */
const LOCK_WAIT_S = 2;

/** No mode of these changes how text in quotes is read, on which the client's escaping relies. */
const SQL_MODE =
	"STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO";

const OLDEST = { MySQL: [8, 0], MariaDB: [10, 11] } as const;
type Product = keyof typeof OLDEST;

const SETTINGS: Sql = {
	name: "settings",
	text: `SELECT @@version, @@auto_increment_increment,
		@@innodb_flush_log_at_trx_commit`,
	values: [],
};

/**
 * Checks what only the server's operator can set, and sets for this session
 * what a session can. It is never reset afterwards: COM_RESET_CONNECTION would
 * take the settings back, and a transaction leaves nothing else behind.
 */
export async function prepareSession(
	connection: MysqlConnection,
	host: string,
	purpose: Purpose,
	statementMs: number,
	limit: Deadline,
): Promise<void> {
	const [row = []] = await connection.rows(SETTINGS, limit);
	const [version, increment, flush] = row.map(String);
	const product = checkSettings(host, {
		version: version ?? "",
		increment: increment ?? "",
		flush: flush ?? "",
	});
	await connection.run(sessionOf(product, purpose, statementMs), limit);
	if (purpose === "read") {
		await connection.run(READ_ONLY, limit);
	}
}

const READ_ONLY: Sql = {
	name: "read only",
	text: "SET SESSION TRANSACTION READ ONLY",
	values: [],
};

function sessionOf(
	product: Product,
	purpose: Purpose,
	statementMs: number,
): Sql {
	const isolation =
		product === "MySQL" ? "transaction_isolation" : "tx_isolation";
	// The server's own stop for a statement whose client is gone, or was stopped itself.
	// MySQL's is for SELECT alone; a transaction's locks end with its connection.
	const stop =
		product === "MySQL"
			? `max_execution_time = ${Math.ceil(statementMs)}`
			: `max_statement_time = ${statementMs / 1_000}`;
	return {
		name: "session",
		text: `SET SESSION ${isolation} = 'READ-COMMITTED', time_zone = '+00:00',
			sql_mode = ?, innodb_lock_wait_timeout = ${LOCK_WAIT_S}, ${stop},
			autocommit = ${purpose === "transaction" ? 0 : 1}`,
		values: [SQL_MODE],
	};
}

/** Throws with every reason against the server. */
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
	const [major = 0, minor = 0] = version.split(".").map(Number.parseFloat);
	const [oldestMajor, oldestMinor] = OLDEST[product];
	const faults: string[] = [];
	if (
		!(major > oldestMajor || (major === oldestMajor && minor >= oldestMinor))
	) {
		faults.push(
			`expected MySQL 8.0 or MariaDB 10.11, or later, but got: ${product} ${version}`,
		);
	}
	// The ids of rows inserted by one statement are derived from the first.
	if (increment !== "1") {
		faults.push(
			`expected auto_increment_increment to be 1 but got: ${increment}`,
		);
	}
	// With 0 a killed server loses what it had acknowledged: PROTOCOLS §6.
	if (flush === "0") {
		faults.push(
			"expected innodb_flush_log_at_trx_commit to be 1 or 2 but got: 0",
		);
	}
	if (faults.length > 0) {
		throw new StorageFailure("unsupported", faults.join("; "), {
			host,
			statement: SETTINGS.name,
		});
	}
	return product;
}
