import { existsSync } from "node:fs";
import type { LookupKey } from "../../storage/rows.ts";
import { quoted } from "../../storage/sqlite/ddl.ts";
import { SqliteConnection } from "../../storage/sqlite/driver/sqliteConnection.ts";
import {
	LOOKUPS,
	OUTBOX,
	type Table,
} from "../../storage/statements/tables.ts";
import { besideGraph, type Database, isText } from "../databases.ts";
import type { Snapshot, StoredRow } from "../source/dumpSource.ts";
import { asSqliteError, pathOf, readRows } from "../source/sqliteSource.ts";
import type { RestoreTarget } from "./restoreTarget.ts";

/** The files of an embedded folder, which this process owns. In a dry run they are only read, as far as they are there. */
export class SqliteTarget implements RestoreTarget {
	readonly #files = new Map<string, SqliteConnection>();
	readonly #isDryRun: boolean;

	constructor({ isDryRun }: { readonly isDryRun: boolean }) {
		this.#isDryRun = isDryRun;
	}

	async faults(databases: readonly Database[]): Promise<readonly string[]> {
		// The tables are made before a restore.
		if (this.#isDryRun) return [];
		const missing = databases.find((each) => !existsSync(pathOf(each)));
		return missing === undefined ? [] : [`${pathOf(missing)} is missing.`];
	}

	async filled(database: Database): Promise<readonly string[]> {
		const there = this.#tablesIn(database);
		return translated(() =>
			database.tables
				.filter((table) => {
					if (!there.has(table.name)) return false;
					const others = besideGraph(table);
					const sql = {
						name: `any ${table.name}`,
						text: `SELECT 1 AS found FROM ${quoted(table.name)}${others === null ? "" : ` WHERE ${quoted(others.column)} NOT IN (${others.values.map(() => "?").join(", ")})`} LIMIT 1`,
					};
					const values = others === null ? [] : [...others.values];
					return this.#fileOf(database).rows(sql, values).length > 0;
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

	async lookup(
		database: Database,
		{ name, key }: LookupKey,
	): Promise<string | null> {
		if (!this.#tablesIn(database).has(LOOKUPS.name)) return null;
		const [row] = translated(() =>
			this.#fileOf(database).rows<{ readonly token: string }>(
				{
					name: "read lookup",
					text: `SELECT token FROM ${quoted(LOOKUPS.name)} WHERE name = ? AND key = ?`,
				},
				[name, key],
			),
		);
		return row?.token ?? null;
	}

	async changeLookup(
		database: Database,
		{ name, key }: LookupKey,
		expect: string | null,
		next: string,
	): Promise<boolean> {
		const table = quoted(LOOKUPS.name);
		const { changes } = translated(() =>
			expect === null
				? this.#fileOf(database).run(
						{
							name: "add lookup",
							text: `INSERT INTO ${table} (name, key, id, token) VALUES (?, ?, 0, ?) ON CONFLICT DO NOTHING`,
						},
						[name, key, next],
					)
				: this.#fileOf(database).run(
						{
							name: "change lookup",
							text: `UPDATE ${table} SET token = ? WHERE name = ? AND key = ? AND token = ?`,
						},
						[next, name, key, expect],
					),
		);
		return changes === 1;
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

	#tablesIn(database: Database): ReadonlySet<string> {
		if (!existsSync(pathOf(database))) return new Set();
		const tables = translated(() =>
			this.#fileOf(database).rows<{ readonly name: string }>(
				{
					name: "tables",
					text: "SELECT name FROM sqlite_master WHERE type = 'table'",
				},
				[],
			),
		);
		return new Set(tables.map(({ name }) => name));
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
				this.#isDryRun ? "read" : "write",
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
