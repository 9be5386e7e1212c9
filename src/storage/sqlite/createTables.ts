import { existsSync } from "node:fs";
import type { Model } from "../../model/types.ts";
import type { Table } from "../statements/tables.ts";
import { addTriggers, renewLog } from "./changeLog.ts";
import { createTable, DUE_INDEX } from "./ddl.ts";
import type { ShardFile } from "./driver/shardFile.ts";
import type { Sql, SqliteConnection } from "./driver/sqliteConnection.ts";

/** Creates the file's missing tables, in one transaction, and has its log of changes follow them. */
export function createTables(
	file: ShardFile,
	tables: readonly Table[],
	/** Null: no table of the file is followed. */
	followed: Model | null,
	/** First ids of tables with local ids, by `db00003.pins`. */
	firstIds: ReadonlyMap<string, number> = new Map(),
): void {
	file.create((connection) => {
		const missing = missingIn(connection, tables);
		for (const table of missing) {
			connection.run(createTable(table));
			const firstId = firstIds.get(`${databaseOf(file)}.${table.name}`);
			if (firstId !== undefined && table.primaryKey === undefined) {
				connection.run(FIRST_ID, [table.name, firstId - 1]);
			}
		}
		if (tables.some(({ index }) => index !== undefined)) {
			connection.run(DUE_INDEX);
		}
		if (followed === null) return;
		renewLog(connection, missing);
		addTriggers(connection, followed);
	});
}

/** What `createTables` would create in a file, as `db00003.pins`. */
export function missingTables(
	file: ShardFile,
	tables: readonly Table[],
): readonly string[] {
	const missing = existsSync(file.location.path)
		? missingIn(file.reader, tables)
		: tables;
	return namesIn(file, missing);
}

/** The tables of a file, as `db00003.pins`. */
export function namesIn(
	file: ShardFile,
	tables: readonly Table[],
): readonly string[] {
	return tables.map(({ name }) => `${databaseOf(file)}.${name}`);
}

function missingIn(
	connection: SqliteConnection,
	tables: readonly Table[],
): readonly Table[] {
	const existing = new Set(
		connection
			.rows<{ readonly name: string }>(TABLES, [])
			.map(({ name }) => name),
	);
	return tables.filter(({ name }) => !existing.has(name));
}

function databaseOf({ location: { host } }: ShardFile): string {
	return host.slice(0, -".sqlite".length);
}

const TABLES: Sql = {
	name: "tables",
	text: "SELECT name FROM sqlite_master WHERE type = 'table'",
};

/** SQLite continues after this one. */
const FIRST_ID: Sql = {
	name: "first id",
	text: "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)",
};
