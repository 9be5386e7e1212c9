import {
	type ColumnType,
	columnLines,
	OUTBOX,
	type Table,
} from "../statements/tables.ts";

/** Longest lookup key, in bytes: InnoDB allows 3,072 with the name. */
const MAX_LOOKUP_KEY = 2_900;

/** Column types of MySQL and MariaDB. Names and keys are VARBINARY, compared byte by byte. */
const TYPES: Readonly<Record<ColumnType, string>> = {
	localId: "BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY",
	shard: "INT UNSIGNED NOT NULL",
	id: "BIGINT UNSIGNED NOT NULL",
	number: "BIGINT UNSIGNED NOT NULL",
	count: "BIGINT NOT NULL",
	state: "TINYINT UNSIGNED NOT NULL",
	json: "MEDIUMTEXT NOT NULL",
	modelName: "VARBINARY(100) NOT NULL",
	key: `VARBINARY(${MAX_LOOKUP_KEY}) NOT NULL`,
	token: "VARBINARY(255) NOT NULL",
	attempts: "INT UNSIGNED NOT NULL DEFAULT 0",
	dueTime: "BIGINT UNSIGNED NOT NULL DEFAULT 0",
	error: "VARCHAR(255)",
};

export function createDatabase(database: string): string {
	return `CREATE DATABASE IF NOT EXISTS ${quoted(database)}
	CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`;
}

/** What belongs to a host and to none of its shards. */
export const HOST_DATABASE = "corkboard";

/** The outbox of all shards of a host: a transaction of any of them reaches it. */
export const HOST_OUTBOX = {
	name: OUTBOX.name,
	columns: { ...OUTBOX.columns, shard: "shard" },
	index: {
		name: OUTBOX.index.name,
		columns: [...OUTBOX.index.columns, "shard"],
	},
} as const satisfies Table;

/** A table of every database, or one that MySQL alone has. */
export type MysqlTable =
	| Table
	| { readonly name: string; readonly lines: readonly string[] };

export function createTable(
	database: string,
	table: MysqlTable,
	/** The first id of a table with local ids. */
	firstId = 1,
): string {
	const { name } = table;
	const lines = "lines" in table ? table.lines : linesOf(table);
	const isCounting = firstId > 1 && lines.join().includes("AUTO_INCREMENT");
	return `CREATE TABLE IF NOT EXISTS ${tableIn(database, name)} (\n\t${lines.join(",\n\t")}\n)
	ENGINE = InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin${isCounting ? ` AUTO_INCREMENT = ${firstId}` : ""}`;
}

function linesOf(table: Table): readonly string[] {
	const { unique, index } = table;
	return [
		...columnLines(table, TYPES, nameOf),
		...(unique ? [`UNIQUE ${keyOf(unique)}`] : []),
		...(index ? [keyOf(index)] : []),
	];
}

function keyOf({ name, columns }: NonNullable<Table["index"]>): string {
	return `KEY ${name} (${columns.join(", ")})`;
}

/** Only `key` is a word of the language. */
function nameOf(column: string): string {
	return column === "key" ? quoted(column) : column;
}

/** A shard's database: `db00042`, `mod00042` of a mod shard, `feed00042` of its feed lists; `queue00042` and `pool00042` of shards of those. */
export function databaseOf(
	kind: "db" | "mod" | "feed" | "queue" | "pool",
	shard: number,
): string {
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
