import { existsSync } from "node:fs";
import { join } from "node:path";
import { CorkboardError } from "../../errors.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import { loggedSet } from "../../storage/sqlite/changeLog.ts";
import { quoted } from "../../storage/sqlite/ddl.ts";
import { SqliteConnection } from "../../storage/sqlite/driver/sqliteConnection.ts";
import type { Table } from "../../storage/statements/tables.ts";
import { StorageFailure } from "../../storage/storageFailure.ts";
import { parseHostUrl } from "../../topology/hostUrl.ts";
import type { Database } from "../databases.ts";
import type { DumpSource, Snapshot, StoredRow } from "./dumpSource.ts";
import { isAfter, orderOf, type RowSpelling, selectList } from "./rowSelect.ts";

/** Objects of one statement. */
const OBJECTS = 500;
const FIRST_READ = { name: "snapshot", text: "SELECT 1 FROM sqlite_master" };

/** The files of an embedded folder. They are read beside the process that writes them. */
export class SqliteSource implements DumpSource {
	readonly #model: Model;
	readonly #shards: ReadonlyMap<number, Database>;
	/** Connections that read objects as they are now, by database. */
	readonly #readers = new Map<string, SqliteConnection>();

	constructor(model: Model, databases: readonly Database[]) {
		this.#model = model;
		this.#shards = new Map(
			databases
				.filter(({ kind }) => kind === "db")
				.map((database) => [database.number, database]),
		);
	}

	serverOf(database: Database): string {
		return pathOf(database);
	}

	async faults(databases: readonly Database[]): Promise<readonly string[]> {
		const missing = databases.find((each) => !existsSync(pathOf(each)));
		return missing === undefined
			? []
			: [`${pathOf(missing)} is missing. Run serve, init or import first.`];
	}

	async snapshot<T>(
		database: Database,
		body: (snapshot: Snapshot) => Promise<T>,
	): Promise<T> {
		try {
			using connection = openFile(database);
			connection.run({ name: "begin", text: "BEGIN" });
			// The snapshot is that of the first read.
			connection.rows(FIRST_READ, []);
			const set = loggedSet(connection);
			return await body({
				position: set === null ? { kind: "none" } : { kind: "gtid", set },
				rows: async (table, after, limit) =>
					readRows(connection, table, after, limit),
			});
		} catch (thrown) {
			throw asSqliteError(thrown);
		}
	}

	async objects(ids: readonly Id[]): Promise<ReadonlyMap<Id, string>> {
		const texts = new Map<Id, string>();
		const byTable = Map.groupBy(ids, (id) => {
			const { shard, type } = unpackId(id);
			return `${shard} ${type}`;
		});
		for (const some of byTable.values()) {
			const { shard, type } = unpackId(some[0] as Id);
			const database = this.#shards.get(shard);
			const table = this.#model.objectsByNumber.get(type)?.table;
			if (database === undefined || table === undefined) continue;
			const byLocal = new Map(some.map((id) => [unpackId(id).local, id]));
			const locals = [...byLocal.keys()];
			for (let at = 0; at < locals.length; at += OBJECTS) {
				const part = locals.slice(at, at + OBJECTS);
				const rows = this.#readerOf(database).rows<{
					readonly local_id: number;
					readonly data: string;
				}>(
					{
						name: `objects ${table}`,
						text: `SELECT local_id, data FROM ${quoted(table)} WHERE local_id IN (SELECT value FROM json_each(?))`,
					},
					[JSON.stringify(part)],
				);
				for (const { local_id, data } of rows) {
					const id = byLocal.get(local_id);
					if (id !== undefined) texts.set(id, data);
				}
			}
		}
		return texts;
	}

	async lags(): Promise<ReadonlyMap<string, number | null>> {
		return new Map();
	}

	async [Symbol.asyncDispose](): Promise<void> {
		for (const reader of this.#readers.values()) reader[Symbol.dispose]();
	}

	#readerOf(database: Database): SqliteConnection {
		let reader = this.#readers.get(database.name);
		if (reader === undefined) {
			reader = openFile(database);
			this.#readers.set(database.name, reader);
		}
		return reader;
	}
}

function openFile(database: Database): SqliteConnection {
	return new SqliteConnection(
		{
			path: pathOf(database),
			host: `${database.name}.sqlite`,
			shard: database.number,
			onModShard: database.kind === "mod",
		},
		"read",
	);
}

/** Throws BAD_TOPOLOGY if the range names no folder. */
export function pathOf({ name, range }: Database): string {
	const url = parseHostUrl(range.primary);
	if (url?.scheme !== "sqlite") {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			"A topology names either folders of SQLite files or MySQL servers.",
		);
	}
	return join(url.folder, `${name}.sqlite`);
}

const SQLITE: RowSpelling = {
	name: quoted,
	// Numbers past 2^53 come as text only.
	selected: (column, isText) =>
		isText ? column : `CAST(${column} AS TEXT) AS ${column}`,
};

export function readRows(
	connection: SqliteConnection,
	table: Table,
	after: StoredRow | null,
	limit: number,
): readonly StoredRow[] {
	const { text, values } = isAfter(table, after, SQLITE);
	const rows = connection.rows<Readonly<Record<string, string | null>>>(
		{
			name: `dump ${table.name}`,
			text: `SELECT ${selectList(table, SQLITE)} FROM ${quoted(table.name)} AS t
				WHERE ${text} ORDER BY ${orderOf(table, { name: (column) => `t.${quoted(column)}` })} LIMIT ${limit}`,
		},
		[...values],
	);
	const columns = Object.keys(table.columns);
	return rows.map((row) => columns.map((column) => row[column] ?? null));
}

export function asSqliteError(thrown: unknown): unknown {
	if (!(thrown instanceof StorageFailure)) return thrown;
	return new CorkboardError("UNAVAILABLE", thrown.message, { cause: thrown });
}
