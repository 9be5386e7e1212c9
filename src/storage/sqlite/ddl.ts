import type { Model } from "../../model/types.ts";
import type { Sql } from "./driver/sqliteConnection.ts";

/**
 * The tables of a shard and of a mod shard, for SQLite. `ts` and sequences are
 * microseconds since 1970.
 *
 * - Objects: AUTOINCREMENT, because SQLite reuses a plain rowid after its row is
 *   deleted, and a local id must never be reused.
 * - Mappings: the primary key is the order of the list, so that a page is one
 *   index range; the second key finds one edge.
 * - `lists` is one table for the rows of all mappings' lists: one more table per
 *   mapping would double the number of tables, on thousands of shards.
 * - `renumberings` says where the positions of a list went (../renumbering.ts).
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
			"renumberings",
			`from_id INTEGER NOT NULL,
	mapping TEXT NOT NULL,
	epoch INTEGER NOT NULL,
	low_sequence INTEGER NOT NULL,
	low_to INTEGER NOT NULL,
	high_sequence INTEGER NOT NULL,
	high_to INTEGER NOT NULL,
	shift INTEGER NOT NULL,
	PRIMARY KEY (from_id, mapping, epoch)`,
			"STRICT, WITHOUT ROWID",
		),
		table(
			"outbox",
			`local_id INTEGER PRIMARY KEY AUTOINCREMENT,
	entry TEXT NOT NULL,
	ts INTEGER NOT NULL,
	attempts ${ATTEMPTS},
	next_attempt_at ${NEXT_ATTEMPT_AT},
	last_error ${LAST_ERROR}`,
			"STRICT",
		),
	];
}

const ATTEMPTS = "INTEGER NOT NULL DEFAULT 0";
const NEXT_ATTEMPT_AT = "INTEGER NOT NULL DEFAULT 0";
const LAST_ERROR = "TEXT";

/** The order of delivery. */
export const DUE_INDEX: Sql = {
	name: "create outbox_due",
	text: "CREATE INDEX IF NOT EXISTS outbox_due ON outbox (next_attempt_at, local_id)",
};

/** A change to a table that an earlier version created, made when the column is missing. */
export interface TableUpgrade {
	readonly table: string;
	readonly column: string;
	/** Clause of ALTER TABLE. */
	readonly clause: string;
}

export const UPGRADES: readonly TableUpgrade[] = [
	{
		table: "outbox",
		column: "entry",
		clause: "RENAME COLUMN debt TO entry",
	},
	{
		table: "outbox",
		column: "attempts",
		clause: `ADD COLUMN attempts ${ATTEMPTS}`,
	},
	{
		table: "outbox",
		column: "next_attempt_at",
		clause: `ADD COLUMN next_attempt_at ${NEXT_ATTEMPT_AT}`,
	},
	{
		table: "outbox",
		column: "last_error",
		clause: `ADD COLUMN last_error ${LAST_ERROR}`,
	},
	{
		table: "lookups",
		column: "token",
		clause: "RENAME COLUMN nonce TO token",
	},
];

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

/** What the names of statements that create tables begin with. */
export const CREATE = "create ";

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
