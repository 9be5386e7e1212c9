import type { Model } from "../../model/types.ts";

/** What a column holds; each database has its own type for it. */
export type ColumnType =
	/** The primary key of a table whose rows get numbers, none of which is ever used again. */
	| "localId"
	| "shard"
	| "id"
	/** From 0 on; `ts` and sequences are microseconds since 1970. */
	| "number"
	| "count"
	| "state"
	/** Text, not a JSON type, which would reorder keys and rewrite numbers. */
	| "json"
	/** A name of the model. */
	| "modelName"
	/** Compared byte by byte: natural keys are normalized by us, not by a collation. */
	| "key"
	| "token"
	/** These begin at 0. */
	| "attempts"
	| "dueTime"
	/** May be null. */
	| "error";

export interface Table {
	readonly name: string;
	/** In the order of the columns. */
	readonly columns: Readonly<Record<string, ColumnType>>;
	/** Absent: the `localId`. */
	readonly primaryKey?: readonly string[];
	/** Finds a row by other columns. */
	readonly unique?: {
		readonly name: string;
		readonly columns: readonly string[];
	};
	readonly index?: {
		readonly name: string;
		readonly columns: readonly string[];
	};
}

function objectTable(name: string): Table {
	return { name, columns: { local_id: "localId", data: "json", ts: "number" } };
}

/** The primary key is the order of the list, so that a page is one index range; `edge` finds one edge by its ends. */
function mappingTable(name: string): Table {
	return {
		name,
		columns: {
			from_id: "id",
			to_id: "id",
			sequence: "number",
			state: "state",
			version: "number",
		},
		primaryKey: ["from_id", "state", "sequence", "to_id"],
		unique: { name: "edge", columns: ["from_id", "to_id"] },
	};
}

/** One table for the rows of all mappings' lists: one more table for each mapping would double the number of tables, on thousands of shards. */
const LISTS: Table = {
	name: "lists",
	columns: {
		from_id: "id",
		mapping: "modelName",
		count: "count",
		last_sequence: "number",
		epoch: "number",
	},
	primaryKey: ["from_id", "mapping"],
};

/** Where the positions of a list went (../renumbering.ts). */
const RENUMBERINGS: Table = {
	name: "renumberings",
	columns: {
		from_id: "id",
		mapping: "modelName",
		epoch: "number",
		low_sequence: "number",
		low_to: "id",
		high_sequence: "number",
		high_to: "id",
		shift: "number",
	},
	primaryKey: ["from_id", "mapping", "epoch"],
};

export const OUTBOX = {
	name: "outbox",
	columns: {
		local_id: "localId",
		entry: "json",
		ts: "number",
		attempts: "attempts",
		next_attempt_at: "dueTime",
		last_error: "error",
	},
	/** The order of delivery. */
	index: { name: "due", columns: ["next_attempt_at", "local_id"] },
} as const satisfies Table;

/** The tables of a shard, but for its outbox. */
export function shardTables(
	model: Model,
	/** `db`: all; `dbBesideFeed`: without the feed lists, which `feed` has. */
	kind: "db" | "dbBesideFeed" | "feed" = "db",
): readonly Table[] {
	const objects = kind === "feed" ? [] : [...model.objects.values()];
	const mappings = [...model.mappings.values()].filter(
		({ place }) => kind === "db" || (place === "FEEDS") === (kind === "feed"),
	);
	return [
		...objects.map(({ table }) => objectTable(table)),
		...mappings.map(({ table }) => mappingTable(table)),
		LISTS,
		RENUMBERINGS,
	];
}

export const LOOKUPS: Table = {
	name: "lookups",
	columns: { name: "modelName", key: "key", id: "id", token: "token" },
	primaryKey: ["name", "key"],
};

export const MOD_SHARD_TABLES: readonly Table[] = [LOOKUPS];

/** The lines between the parentheses of CREATE TABLE that databases write alike. */
export function columnLines(
	{ columns, primaryKey }: Table,
	types: Readonly<Record<ColumnType, string>>,
	name: (column: string) => string,
): readonly string[] {
	return [
		...Object.entries(columns).map(
			([column, type]) => `${name(column)} ${types[type]}`,
		),
		...(primaryKey === undefined
			? []
			: [`PRIMARY KEY (${primaryKey.map(name).join(", ")})`]),
	];
}
