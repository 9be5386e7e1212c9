import { existsSync } from "node:fs";
import { quoted } from "../../storage/sqlite/ddl.ts";
import { SqliteConnection } from "../../storage/sqlite/driver/sqliteConnection.ts";
import { OUTBOX, type Table } from "../../storage/statements/tables.ts";
import { type Database, isText } from "../databases.ts";
import type { Snapshot, StoredRow } from "../source/dumpSource.ts";
import { asSqliteError, pathOf, readRows } from "../source/sqliteSource.ts";
import type { RestoreTarget } from "./restoreTarget.ts";

/** The files of an embedded folder, which this process owns. */
export class SqliteTarget implements RestoreTarget {
	readonly #files = new Map<string, SqliteConnection>();

	async faults(databases: readonly Database[]): Promise<readonly string[]> {
		const missing = databases.find((each) => !existsSync(pathOf(each)));
		return missing === undefined ? [] : [`${pathOf(missing)} is missing.`];
	}

	async filled(database: Database): Promise<readonly string[]> {
		return translated(() =>
			database.tables
				.filter(({ name }) => {
					const sql = {
						name: `any ${name}`,
						text: `SELECT 1 AS found FROM ${quoted(name)} LIMIT 1`,
					};
					return this.#fileOf(database).rows(sql, []).length > 0;
				})
				.map(({ name }) => name),
		);
	}

	async insert(
		database: Database,
		table: Table,
		rows: readonly StoredRow[],
	): Promise<void> {
		const file = this.#fileOf(database);
		const columns = insertedColumns(table);
		const sql = {
			name: `restore ${table.name}`,
			text: `INSERT INTO ${quoted(table.name)} (${columns.map(({ name }) => quoted(name)).join(", ")})
				VALUES (${columns.map(() => "?").join(", ")}) ON CONFLICT DO NOTHING`,
		};
		translated(() =>
			file.transaction(() => {
				for (const row of rows) {
					file.run(
						sql,
						columns.map(({ at, name }) => {
							const cell = row[at] ?? null;
							if (cell === null || isText(table, name)) return cell;
							return BigInt(cell);
						}),
					);
				}
			}),
		);
	}

	rows(database: Database): Snapshot["rows"] {
		return async (table, after, limit) =>
			translated(() => readRows(this.#fileOf(database), table, after, limit));
	}

	async raiseIds(databases: readonly Database[], by: number): Promise<void> {
		for (const database of databases) {
			const file = this.#fileOf(database);
			const tables = database.tables.filter(
				({ primaryKey }) => primaryKey === undefined,
			);
			translated(() =>
				file.transaction(() => {
					for (const { name } of tables) {
						file.run(
							{
								name: "raise ids",
								text: `UPDATE sqlite_sequence SET seq = seq + ? WHERE name = ?`,
							},
							[by, name],
						);
						file.run(
							{
								name: "first id",
								text: `INSERT INTO sqlite_sequence (name, seq) SELECT ?, ?
									WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?)`,
							},
							[name, by, name],
						);
					}
				}),
			);
		}
	}

	async [Symbol.asyncDispose](): Promise<void> {
		for (const file of this.#files.values()) file[Symbol.dispose]();
	}

	#fileOf(database: Database): SqliteConnection {
		let file = this.#files.get(database.name);
		if (file === undefined) {
			file = new SqliteConnection(
				{
					path: pathOf(database),
					host: `${database.name}.sqlite`,
					shard: database.number,
					onModShard: database.kind === "mod",
				},
				"write",
			);
			this.#files.set(database.name, file);
		}
		return file;
	}
}

/** Entries of an outbox get new numbers: a server has one for all of its shards, a file one of its own. */
export function insertedColumns(
	table: Table,
): readonly { readonly name: string; readonly at: number }[] {
	const columns = Object.keys(table.columns).map((name, at) => ({ name, at }));
	return table.name === OUTBOX.name
		? columns.filter(({ name }) => name !== "local_id")
		: columns;
}

function translated<T>(body: () => T): T {
	try {
		return body();
	} catch (thrown) {
		throw asSqliteError(thrown);
	}
}
