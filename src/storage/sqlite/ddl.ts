import {
	type ColumnType,
	columnLines,
	OUTBOX,
	type Table,
} from "../statements/tables.ts";
import type { Sql } from "./driver/sqliteConnection.ts";

const TYPES: Readonly<Record<ColumnType, string>> = {
	// SQLite reuses a plain rowid after its row is deleted.
	localId: "INTEGER PRIMARY KEY AUTOINCREMENT",
	shard: "INTEGER NOT NULL",
	id: "INTEGER NOT NULL",
	number: "INTEGER NOT NULL",
	count: "INTEGER NOT NULL",
	state: "INTEGER NOT NULL",
	json: "TEXT NOT NULL",
	modelName: "TEXT NOT NULL",
	key: "TEXT NOT NULL",
	token: "TEXT NOT NULL",
	attempts: "INTEGER NOT NULL DEFAULT 0",
	dueTime: "INTEGER NOT NULL DEFAULT 0",
	error: "TEXT",
};

export const DUE_INDEX: Sql = {
	name: "create outbox_due",
	text: `CREATE INDEX IF NOT EXISTS outbox_due ON outbox (${OUTBOX.index.columns.join(", ")})`,
};

/** A table's name in a statement. It comes from the model, never from a request. */
export function quoted(name: string): string {
	return `"${name.replaceAll('"', '""')}"`;
}

export function createTable(table: Table): Sql {
	const { name, primaryKey, unique } = table;
	const lines = [
		...columnLines(table, TYPES, (column) => column),
		...(unique ? [`UNIQUE (${unique.columns.join(", ")})`] : []),
	];
	const options = primaryKey === undefined ? "STRICT" : "STRICT, WITHOUT ROWID";
	return {
		name: `create ${name}`,
		text: `CREATE TABLE IF NOT EXISTS ${quoted(name)} (\n\t${lines.join(",\n\t")}\n) ${options}`,
	};
}
