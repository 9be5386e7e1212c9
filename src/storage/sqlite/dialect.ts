import type { Model } from "../../model/types.ts";
import type { StatementTrace } from "../../trace.ts";
import type { KeyAt, Place } from "../driver.ts";
import type { Dialect, Select } from "../statements/dialect.ts";
import { type CommonKind, selectsOf } from "../statements/reads.ts";
import type { ReadKey, ReadResult } from "../storage.ts";
import { quoted } from "./ddl.ts";
import type { Parameter, SqliteConnection } from "./driver/sqliteConnection.ts";

/**
 * Each shard is a file. Ids come as text. Numbers come as REAL: SQLite gives a
 * damaged one beyond 2^53 as what it is, where as INTEGER the whole statement
 * would fail.
 */
export const SQLITE: Dialect<Place> = {
	table: (_, name) => quoted(name),
	name: quoted,
	index: (name) => (name === "due" ? "INDEXED BY outbox_due" : ""),
	id: (column) => `CAST(${column} AS TEXT)`,
	number: (expression) => `CAST(${expression} AS REAL)`,
	// With json_each, a list of any length is one prepared statement.
	isIn: (column, values) => ({
		text: `${column} IN (SELECT value FROM json_each(?))`,
		values: [JSON.stringify(values)],
	}),
	isAfter: (columns, values) => ({
		text: `(${columns.join(", ")}) > (?, ?)`,
		values,
	}),
};

export function selectFrom<Result>(
	connection: SqliteConnection,
	{ name, columns, rest, values, read }: Select<Result>,
	trace?: StatementTrace,
): readonly Result[] {
	const rows = connection.rows<Readonly<Record<string, unknown>>>(
		{ name, text: `SELECT ${columns.join(", ")} ${rest}` },
		values as readonly Parameter[],
		trace,
	);
	return read(rows.map((row) => Object.values(row)));
}

/** Keys of one shard. */
export function readCommon<K extends CommonKind, P extends Place>(
	kind: K,
	model: Model,
	connection: SqliteConnection,
	keys: readonly KeyAt<ReadKey<K>, P>[],
	trace?: StatementTrace,
): readonly ReadResult<K>[] {
	// One SELECT has all keys, or each has its own, in their order.
	return selectsOf(kind, SQLITE, model, keys).flatMap(({ select }) =>
		selectFrom(connection, select, trace),
	);
}
