import { existsSync } from "node:fs";
import {
	CREATE,
	DUE_INDEX,
	quoted,
	type TableUpgrade,
	UPGRADES,
} from "./ddl.ts";
import type { ShardFile } from "./driver/shardFile.ts";
import type { Sql, SqliteConnection } from "./driver/sqliteConnection.ts";

/** Create the file's missing tables and upgrade older ones, in one transaction. */
export function createTables(file: ShardFile, tables: readonly Sql[]): void {
	file.create((connection) => {
		for (const { table, clause } of missingColumns(connection, tables)) {
			connection.run({
				name: `upgrade ${table}`,
				text: `ALTER TABLE ${quoted(table)} ${clause}`,
			});
		}
		for (const table of tables) connection.run(table);
		if (tables.some(({ name }) => name === `${CREATE}outbox`)) {
			connection.run(DUE_INDEX);
		}
	});
}

/** Columns that tables of earlier versions lack. */
function missingColumns(
	connection: SqliteConnection,
	tables: readonly Sql[],
): readonly TableUpgrade[] {
	const names = new Set(tables.map(({ name }) => name));
	return [...Map.groupBy(UPGRADES, ({ table }) => table)].flatMap(
		([table, upgrades]) => {
			if (!names.has(`${CREATE}${table}`)) return [];
			const columns = new Set(
				connection
					.rows<{ readonly name: string }>(COLUMNS, [table])
					.map(({ name }) => name),
			);
			// A table that does not exist is created whole.
			if (columns.size === 0) return [];
			return upgrades.filter(({ column }) => !columns.has(column));
		},
	);
}

const COLUMNS: Sql = {
	name: "columns",
	text: "SELECT name FROM pragma_table_info(?)",
};

/** What `createTables` would create or change in a file. */
export function missingTables(
	file: ShardFile,
	tables: readonly Sql[],
): readonly string[] {
	const { host, path } = file.location;
	const database = host.slice(0, -".sqlite".length);
	const existing = new Set(
		existsSync(path)
			? file.reader
					.rows<{ readonly name: string }>(TABLES, [])
					.map(({ name }) => `${CREATE}${name}`)
			: [],
	);
	const columns = existing.size > 0 ? missingColumns(file.reader, tables) : [];
	return [
		...tables
			.filter(({ name }) => !existing.has(name))
			.map(({ name }) => `${database}.${name.slice(CREATE.length)}`),
		...columns.map(({ table, column }) => `${database}.${table}.${column}`),
	];
}

const TABLES: Sql = {
	name: "tables",
	text: "SELECT name FROM sqlite_master WHERE type = 'table'",
};
