import { setTimeout as sleep } from "node:timers/promises";
import type { MysqlSession } from "../../../storage/mysql/driver/host.ts";
import type { Sql } from "../../../storage/mysql/driver/mysqlConnection.ts";
import { isRefusal } from "../../../storage/storageFailure.ts";

/** A lock that is held for longer is not one of ours: queue statements end sooner. Milliseconds. */
const OLD_MS = 200;

/**
 * Whether others use a table for so long that DDL must not wait for them, since
 * every statement that comes after would wait behind it: a dump, or a
 * transaction that somebody left open.
 *
 * - `free`: nobody did so a moment ago.
 * - `used`: somebody does.
 * - `unknown`: the server does not say. MariaDB knows transactions, not their tables.
 */
export type Use = "free" | "used" | "unknown";

/** Asks twice, OLD_MS apart: a session that holds the same lock both times has held it so long, whatever the clocks say. */
export async function tableUse(
	session: MysqlSession,
	database: string,
	table: string,
): Promise<Use> {
	const sql =
		session.product === "MySQL" ? holders(database, table) : TRANSACTIONS;
	const first = await ask(session, sql);
	if (first === null) return "unknown";
	if (first.size === 0) return "free";
	await sleep(OLD_MS);
	const second = await ask(session, sql);
	if (second === null) return "unknown";
	const isOld = [...first].some((lock) => second.has(lock));
	if (!isOld) return "free";
	return session.product === "MySQL" ? "used" : "unknown";
}

/** A lock by the thread that holds it and the event that took it: a later lock of the thread has another event. */
function holders(database: string, table: string): Sql {
	return {
		name: "metadata locks",
		text: `SELECT owner_thread_id, owner_event_id, @@performance_schema
			FROM performance_schema.metadata_locks
			WHERE object_type = 'TABLE' AND object_schema = ? AND object_name = ?
				AND lock_status = 'GRANTED'
				AND owner_thread_id <> PS_CURRENT_THREAD_ID()`,
		values: [database, table],
	};
}

const IS_WATCHED: Sql = {
	name: "metadata locks watched",
	text: `SELECT enabled FROM performance_schema.setup_instruments
		WHERE name = 'wait/lock/metadata/sql/mdl'`,
	values: [],
};

const TRANSACTIONS: Sql = {
	name: "open transactions",
	text: `SELECT trx_mysql_thread_id, trx_started FROM information_schema.innodb_trx
		WHERE trx_mysql_thread_id <> CONNECTION_ID()`,
	values: [],
};

/** Null if the server does not say: the performance schema is off, or the user may not ask. */
async function ask(
	session: MysqlSession,
	sql: Sql,
): Promise<ReadonlySet<string> | null> {
	try {
		const rows = await session.rows(sql);
		if (rows.length === 0 && session.product === "MySQL") {
			const [row] = await session.rows(IS_WATCHED);
			if (row?.[0] !== "YES") return null;
		}
		return new Set(rows.map((row) => row.slice(0, 2).join(" ")));
	} catch (thrown) {
		if (isRefusal(thrown)) {
			return null;
		}
		throw thrown;
	}
}
