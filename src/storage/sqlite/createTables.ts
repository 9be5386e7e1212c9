import { existsSync } from "node:fs";
import { type Lack, lackOf, type Table } from "../statements/tables.ts";
import { createTable, DUE_INDEX, upgradeTable } from "./ddl.ts";
import type { ShardFile } from "./driver/shardFile.ts";
import type { Sql, SqliteConnection } from "./driver/sqliteConnection.ts";

/** Creates the file's missing tables and upgrades older ones, in one transaction. */
export function createTables(
	file: ShardFile,
	tables: readonly Table[],
	/** Of tables with local ids, by `db00003.pins`. */
	firstIds: ReadonlyMap<string, number> = new Map(),
): void {
	file.create((connection) => {
		const lack = lackIn(connection, tables);
		for (const upgrade of lack.upgrades) connection.run(upgradeTable(upgrade));
		for (const table of lack.tables) {
			connection.run(createTable(table));
			const firstId = firstIds.get(`${databaseOf(file)}.${table.name}`);
			if (firstId !== undefined && table.primaryKey === undefined) {
				connection.run(FIRST_ID, [table.name, firstId - 1]);
			}
		}
		if (tables.some(({ index }) => index !== undefined)) {
			connection.run(DUE_INDEX);
		}
	});
}

/** What `createTables` would create or change in a file, as `db00003.pins`. */
export function missingTables(
	file: ShardFile,
	tables: readonly Table[],
): readonly string[] {
	const { names } = existsSync(file.location.path)
		? lackIn(file.reader, tables)
		: lackOf(tables, () => false);
	return names.map((name) => `${databaseOf(file)}.${name}`);
}

/** The tables of a file, as `db00003.pins`. */
export function namesIn(
	file: ShardFile,
	tables: readonly Table[],
): readonly string[] {
	return tables.map(({ name }) => `${databaseOf(file)}.${name}`);
}

function lackIn(
	connection: SqliteConnection,
	tables: readonly Table[],
): Lack<Table> {
	const existing = new Set(
		connection
			.rows<{ readonly name: string; readonly column: string }>(COLUMNS, [])
			.flatMap(({ name, column }) => [name, `${name}.${column}`]),
	);
	return lackOf(tables, (name) => existing.has(name));
}

function databaseOf({ location: { host } }: ShardFile): string {
	return host.slice(0, -".sqlite".length);
}

const COLUMNS: Sql = {
	name: "tables",
	text: `SELECT tables.name AS name, columns.name AS "column"
		FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
		WHERE tables.type = 'table'`,
};

/** SQLite goes on after this one. */
const FIRST_ID: Sql = {
	name: "first id",
	text: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)",
};
