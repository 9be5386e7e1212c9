import type { Model } from "../../model/types.ts";

/**
 * The tables of a shard and of a mod shard, for MySQL and MariaDB. `ts` and
 * sequences are microseconds since 1970.
 *
 * - `data` is text, not JSON: the JSON type reorders keys and rewrites numbers.
 * - Mappings: the primary key is the order of the list, so that a page is one
 *   index range; `edge` finds one edge by its ends.
 * - `lists` is one table for all mappings, as on SQLite.
 * - `renumberings` says where the positions of a list went (../renumbering.ts).
 * - Names and keys are VARBINARY, compared byte by byte: natural keys are
 *   normalized by us, not by a collation.
 */
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
		...objects.map(({ table }) => ({
			name: table,
			columns: `local_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
	data MEDIUMTEXT NOT NULL,
	ts BIGINT UNSIGNED NOT NULL`,
		})),
		...mappings.map(({ table }) => ({
			name: table,
			columns: `from_id BIGINT UNSIGNED NOT NULL,
	to_id BIGINT UNSIGNED NOT NULL,
	sequence BIGINT UNSIGNED NOT NULL,
	state TINYINT UNSIGNED NOT NULL,
	version BIGINT UNSIGNED NOT NULL,
	PRIMARY KEY (from_id, state, sequence, to_id),
	UNIQUE KEY edge (from_id, to_id)`,
		})),
		{
			name: "lists",
			columns: `from_id BIGINT UNSIGNED NOT NULL,
	mapping VARBINARY(100) NOT NULL,
	count BIGINT NOT NULL,
	last_sequence BIGINT UNSIGNED NOT NULL,
	epoch BIGINT UNSIGNED NOT NULL,
	PRIMARY KEY (from_id, mapping)`,
		},
		{
			name: "renumberings",
			columns: `from_id BIGINT UNSIGNED NOT NULL,
	mapping VARBINARY(100) NOT NULL,
	epoch BIGINT UNSIGNED NOT NULL,
	low_sequence BIGINT UNSIGNED NOT NULL,
	low_to BIGINT UNSIGNED NOT NULL,
	high_sequence BIGINT UNSIGNED NOT NULL,
	high_to BIGINT UNSIGNED NOT NULL,
	shift BIGINT UNSIGNED NOT NULL,
	PRIMARY KEY (from_id, mapping, epoch)`,
		},
		{
			name: "outbox",
			columns: `local_id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
	entry MEDIUMTEXT NOT NULL,
	ts BIGINT UNSIGNED NOT NULL,
	attempts ${ATTEMPTS},
	next_attempt_at ${NEXT_ATTEMPT_AT},
	last_error ${LAST_ERROR},
	${DUE}`,
		},
	];
}

const ATTEMPTS = "INT UNSIGNED NOT NULL DEFAULT 0";
const NEXT_ATTEMPT_AT = "BIGINT UNSIGNED NOT NULL DEFAULT 0";
const LAST_ERROR = "VARCHAR(255)";
/** The order of delivery. */
const DUE = "KEY due (next_attempt_at, local_id)";

/** A change to a table that an earlier version created, made when the column is missing. */
export interface TableUpgrade {
	readonly table: string;
	readonly column: string;
	/** Clauses of ALTER TABLE. */
	readonly clauses: readonly string[];
}

export const UPGRADES: readonly TableUpgrade[] = [
	{
		table: "outbox",
		column: "entry",
		clauses: ["RENAME COLUMN debt TO entry"],
	},
	{
		table: "outbox",
		column: "attempts",
		clauses: [`ADD COLUMN attempts ${ATTEMPTS}`],
	},
	{
		table: "outbox",
		column: "next_attempt_at",
		clauses: [`ADD COLUMN next_attempt_at ${NEXT_ATTEMPT_AT}`, `ADD ${DUE}`],
	},
	{
		table: "outbox",
		column: "last_error",
		clauses: [`ADD COLUMN last_error ${LAST_ERROR}`],
	},
	{
		table: "lookups",
		column: "token",
		clauses: ["RENAME COLUMN nonce TO token"],
	},
];

/** All upgrades of one table in one statement, which the server does whole or not at all. */
export function upgradeTable(
	database: string,
	table: string,
	upgrades: readonly TableUpgrade[],
): string {
	const clauses = upgrades.flatMap(({ clauses }) => clauses);
	return `ALTER TABLE ${tableIn(database, table)} ${clauses.join(", ")}`;
}

/** Longest lookup key, in bytes: InnoDB allows 3,072 with the name. */
const MAX_LOOKUP_KEY = 2_900;

export function modShardTables(): readonly Table[] {
	return [
		{
			name: "lookups",
			columns: `name VARBINARY(100) NOT NULL,
	\`key\` VARBINARY(${MAX_LOOKUP_KEY}) NOT NULL,
	id BIGINT UNSIGNED NOT NULL,
	token VARBINARY(255) NOT NULL,
	PRIMARY KEY (name, \`key\`)`,
		},
	];
}

export interface Table {
	readonly name: string;
	readonly columns: string;
}

export function createDatabase(database: string): string {
	return `CREATE DATABASE IF NOT EXISTS ${quoted(database)}
	CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;
}

export function createTable(
	database: string,
	{ name, columns }: Table,
	/** Of a table with local ids. */
	firstId = 1,
): string {
	const isCounting = firstId > 1 && columns.includes("AUTO_INCREMENT");
	return `CREATE TABLE IF NOT EXISTS ${tableIn(database, name)} (\n\t${columns}\n)
	ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin${isCounting ? ` AUTO_INCREMENT = ${firstId}` : ""}`;
}

/** A shard's database: `db00042`, `mod00042` of a mod shard, and `feed00042` of its feed lists. */
export function databaseOf(kind: "db" | "mod" | "feed", shard: number): string {
	return `${kind}${String(shard).padStart(5, "0")}`;
}

/** A table qualified by its database, because all shards of a host share its connections. Names come from the model, never from a request. */
export function tableIn(database: string, table: string): string {
	return `${quoted(database)}.${quoted(table)}`;
}

function quoted(name: string): string {
	let known = QUOTED.get(name);
	if (known === undefined) {
		known = `\`${name.replaceAll("`", "``")}\``;
		QUOTED.set(name, known);
	}
	return known;
}

/** Every statement names tables, and there are as many names as the model and the topology have. */
const QUOTED = new Map<string, string>();
