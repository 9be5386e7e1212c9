import { existsSync } from "node:fs";
import type { Model } from "../../model/types.ts";
import type { Sql } from "./driver/connection.ts";
import type { ShardFile } from "./driver/shardFile.ts";

/**
 * The tables of a shard and of a mod shard, printed from the model for SQLite.
 * `ts` and sequences are microseconds since 1970.
 *
 * - Objects: AUTOINCREMENT, because a plain rowid is given again after its row
 *   is gone, and a local id never is.
 * - Mappings: the primary key is the order of the list, so that a page is a
 *   walk along it (FIELD §0.1); the second key finds one edge.
 * - `lists` is one table for the count rows of all mappings: the rows of one
 *   object stand together, and a fleet has thousands of shards times dozens of
 *   mappings already, which another table for each would double.
 */
export function shardTables(model: Model): readonly Sql[] {
	return [
		...[...model.objects.values()].map(({ table }) => objectTable(table)),
		...[...model.mappings.values()].map(({ table }) => mappingTable(table)),
		table(
			"lists",
			`from_id INTEGER NOT NULL,
	mapping TEXT NOT NULL,
	count INTEGER NOT NULL,
	last_sequence INTEGER NOT NULL,
	epoch INTEGER NOT NULL,
	PRIMARY KEY (from_id, mapping)`,
			"STRICT, WITHOUT ROWID",
		),
		table(
			"outbox",
			`local_id INTEGER PRIMARY KEY AUTOINCREMENT,
	debt TEXT NOT NULL,
	ts INTEGER NOT NULL`,
			"STRICT",
		),
	];
}

export function modShardTables(): readonly Sql[] {
	return [
		table(
			"lookups",
			`name TEXT NOT NULL,
	key TEXT NOT NULL,
	id INTEGER NOT NULL,
	token TEXT NOT NULL,
	PRIMARY KEY (name, key)`,
			"STRICT, WITHOUT ROWID",
		),
	];
}

/** Those of a file's tables that it lacks, as `db00003.pins`; all of them where there is no file. */
export function missingTables(
	file: ShardFile,
	tables: readonly Sql[],
): readonly string[] {
	const { host, path } = file.location;
	const there = new Set(
		existsSync(path)
			? file.reader
					.rows<{ readonly name: string }>(TABLES, [])
					.map(({ name }) => `${CREATE}${name}`)
			: [],
	);
	return tables
		.filter(({ name }) => !there.has(name))
		.map(({ name }) => {
			const database = host.slice(0, -".sqlite".length);
			return `${database}.${name.slice(CREATE.length)}`;
		});
}

const CREATE = "create ";
const TABLES: Sql = {
	name: "tables",
	text: "SELECT name FROM sqlite_master WHERE type = 'table'",
};

/** A table's name in a statement. It comes from the model, never from a request. */
export function quoted(name: string): string {
	return `"${name.replaceAll('"', '""')}"`;
}

function objectTable(name: string): Sql {
	return table(
		name,
		`local_id INTEGER PRIMARY KEY AUTOINCREMENT,
	data TEXT NOT NULL,
	ts INTEGER NOT NULL`,
		"STRICT",
	);
}

function mappingTable(name: string): Sql {
	return table(
		name,
		`from_id INTEGER NOT NULL,
	to_id INTEGER NOT NULL,
	sequence INTEGER NOT NULL,
	state INTEGER NOT NULL,
	version INTEGER NOT NULL,
	PRIMARY KEY (from_id, state, sequence, to_id),
	UNIQUE (from_id, to_id)`,
		"STRICT, WITHOUT ROWID",
	);
}

function table(name: string, columns: string, options: string): Sql {
	return {
		name: `${CREATE}${name}`,
		text: `CREATE TABLE IF NOT EXISTS ${quoted(name)} (\n\t${columns}\n) ${options}`,
	};
}
