import type { StatementTrace } from "../../trace.ts";
import type { ShardLocation } from "../driver.ts";
import type { BatchedSelect, StatementBatch } from "../statements/batch.ts";
import type { Dialect, Select } from "../statements/dialect.ts";
import { quoted } from "./ddl.ts";
import type { Parameter, SqliteConnection } from "./driver/sqliteConnection.ts";

/**
 * Each shard is a file, which a transaction has to itself. Each text is prepared
 * once, so all values are parameters: a statement writes one row, and with
 * json_each a list of any length is one text. Ids come as text. Numbers come as
 * REAL: SQLite gives a damaged one beyond 2^53 as what it is, where as INTEGER
 * the whole statement would fail.
 */
export const SQLITE: Dialect<ShardLocation> = {
	maxRows: 1,
	maxTables: 1,
	literal: null,
	forUpdate: "",
	table: (_, name) => quoted(name),
	outbox: {
		of: ([shard]) => ({
			table: quoted("outbox"),
			shard: `${shard} AS shard`,
			isOf: { text: "TRUE", values: [] },
		}),
		choice: (pairs, otherwise = "NULL") => ({
			text: `COALESCE(? ->> CAST(local_id AS TEXT), ${otherwise})`,
			values: [JSON.stringify(Object.fromEntries(pairs))],
		}),
		isShared: false,
		next: null,
	},
	name: quoted,
	index: (name) => (name === "due" ? "INDEXED BY outbox_due" : ""),
	orSet: (key, columns) =>
		`ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(", ")}`,
	orKeep: (key) => `ON CONFLICT (${key.join(", ")}) DO NOTHING`,
	id: (column) => `CAST(${column} AS TEXT)`,
	number: (expression) => `CAST(${expression} AS REAL)`,
	isIn: (column, values) => ({
		text: `${column} IN (SELECT value FROM json_each(?))`,
		values: [JSON.stringify(values)],
	}),
	isOneOf: (column, values) => ({
		text: `${column} IN (SELECT value FROM json_each(?))`,
		values: [`[${[...values].join()}]`],
	}),
	hasEnds: (edges) => ({
		text: `(from_id, to_id) IN (SELECT value->>0, value->>1 FROM json_each(?))`,
		values: [`[${edges.map(({ from, to }) => `[${from},${to}]`).join()}]`],
	}),
	isAfter: (columns, values) => ({
		text: `(${columns.join(", ")}) > (?, ?)`,
		values,
	}),
};

export function selectFrom<Result>(
	connection: SqliteConnection,
	{ read, ...select }: Select<Result>,
	trace?: StatementTrace,
): readonly Result[] {
	return read(rowsOf(connection, select, trace));
}

function rowsOf(
	connection: SqliteConnection,
	{ name, columns, rest, values }: Omit<BatchedSelect, "use">,
	trace?: StatementTrace,
): readonly (readonly unknown[])[] {
	const rows = connection.rows<Readonly<Record<string, unknown>>>(
		{ name, text: `SELECT ${columns.join(", ")} ${rest}` },
		values as readonly Parameter[],
		trace,
	);
	return rows.map((row) => Object.values(row));
}

/** Executes the statements of a batch in the transaction that is open. */
export function execute(
	connection: SqliteConnection,
	{ steps }: StatementBatch<ShardLocation>,
): void {
	for (const step of steps) {
		if ("write" in step) {
			const { changes, insertedAs } = connection.run(
				step.write,
				step.write.values as readonly Parameter[],
			);
			step.use({ affected: changes, firstId: insertedAs });
		} else {
			for (const question of step.questions) {
				question.use(rowsOf(connection, question));
			}
		}
	}
}
