import { existsSync } from "node:fs";
import { type TableUpgrade, UPGRADES } from "../statements/tables.ts";
import { CREATE, DUE_INDEX, upgradeTable } from "./ddl.ts";
import type { ShardFile } from "./driver/shardFile.ts";
import type { Sql, SqliteConnection } from "./driver/sqliteConnection.ts";

/** Create the file's missing tables and upgrade older ones, in one transaction. */
export function createTables(
	file: ShardFile,
	tables: readonly Sql[],
	/** Of tables with local ids, by `db00003.pins`. */
	firstIds: ReadonlyMap<string, number> = new Map(),
): void {
	const names = namesIn(file, tables);
	file.create((connection) => {
		for (const upgrade of missingColumns(connection, tables)) {
			connection.run(upgradeTable(upgrade));
		}
		for (const [index, table] of tables.entries()) {
			connection.run(table);
			const firstId = firstIds.get(names[index] as string);
			if (firstId === undefined || !table.text.includes("AUTOINCREMENT")) {
				continue;
			}
			connection.run(FIRST_ID, [table.name.slice(CREATE.length), firstId - 1]);
		}
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

/** SQLite goes on after this one. */
const FIRST_ID: Sql = {
	name: "first id",
	text: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)",
};

/** The tables of a file, as `db00003.pins`. */
export function namesIn(
	{ location: { host } }: ShardFile,
	tables: readonly Sql[],
): readonly string[] {
	const database = host.slice(0, -".sqlite".length);
	return tables.map(({ name }) => `${database}.${name.slice(CREATE.length)}`);
}

/** What `createTables` would create or change in a file. */
export function missingTables(
	file: ShardFile,
	tables: readonly Sql[],
): readonly string[] {
	const { host, path } = file.location;
	const database = host.slice(0, -".sqlite".length);
	const names = namesIn(file, tables);
	const existing = new Set(
		existsSync(path)
			? file.reader
					.rows<{ readonly name: string }>(TABLES, [])
					.map(({ name }) => `${CREATE}${name}`)
			: [],
	);
	const columns = existing.size > 0 ? missingColumns(file.reader, tables) : [];
	return [
		...names.filter((_, index) => !existing.has((tables[index] as Sql).name)),
		...columns.map(({ table, column }) => `${database}.${table}.${column}`),
	];
}

const TABLES: Sql = {
	name: "tables",
	text: "SELECT name FROM sqlite_master WHERE type = 'table'",
};
