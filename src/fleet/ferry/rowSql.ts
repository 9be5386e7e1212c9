import type {
	BinlogColumn,
	Cell,
	Cells,
} from "../../storage/mysql/binlog/binlogTypes.ts";
import type { MovedTable } from "./movedTables.ts";

/** The values of some columns of a row, spelled as SQL has them. */
export type Key = readonly string[];

/** A table in a database, which on the way back has another name than on the server that is read. */
export function tableIn(database: string, { name }: { readonly name: string }) {
	return `${quoted(database)}.${quoted(name)}`;
}

export function quoted(name: string): string {
	return `\`${name.replaceAll("`", "``")}\``;
}

/** A row of a result, in the order of its columns. */
export function cellsOf(
	row: readonly unknown[],
	columns: readonly BinlogColumn[],
): Cells {
	return columns.map(({ kind }, at) => {
		const value = row[at];
		if (value === null || value === undefined) return null;
		return kind === "bytes" && Buffer.isBuffer(value) ? value : String(value);
	});
}

export function literal({ name, kind }: BinlogColumn, cell: Cell): string {
	if (cell === null) return "NULL";
	if (kind === "bytes") {
		return `x'${(Buffer.isBuffer(cell) ? cell : Buffer.from(cell)).toString("hex")}'`;
	}
	const text = String(cell);
	// Sessions read backslashes as escapes; nothing else ends a text or changes it.
	if (kind === "text") return `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
	if (/^-?\d+$/.test(text)) return text;
	throw new TypeError(`${name} is a number, got ${JSON.stringify(text)}.`);
}

export function keyOf(
	cells: Cells,
	{ columns }: MovedTable,
	of: readonly BinlogColumn[],
): Key {
	return of.map((column) =>
		literal(column, cells[columns.indexOf(column)] ?? null),
	);
}

export function rowLiteral(
	cells: Cells,
	columns: readonly BinlogColumn[],
): string {
	return `(${columns.map((column, at) => literal(column, cells[at] ?? null)).join(",")})`;
}

export function listOf(columns: readonly BinlogColumn[]): string {
	return columns.map(({ name }) => quoted(name)).join(", ");
}

/**
 * Rows after one key, and up to another: both in the order of these columns. It is
 * spelled out, because the optimizer uses no index to compare row values.
 */
export function isBetween(
	columns: readonly BinlogColumn[],
	after: Key | null,
	upTo: Key | null,
): string {
	const parts = [
		...(after === null ? [] : [compared(columns, ">", after, false)]),
		...(upTo === null ? [] : [compared(columns, "<", upTo, true)]),
	];
	return parts.length === 0 ? "TRUE" : parts.join(" AND ");
}

function compared(
	columns: readonly BinlogColumn[],
	sign: "<" | ">",
	key: Key,
	orEqual: boolean,
): string {
	const terms = columns.map(({ name }, at) => {
		const equal = columns
			.slice(0, at)
			.map((column, before) => `${quoted(column.name)} = ${key[before]}`);
		const isLast = orEqual && at === columns.length - 1;
		return [
			...equal,
			`${quoted(name)} ${sign}${isLast ? "=" : ""} ${key[at]}`,
		].join(" AND ");
	});
	return `(${terms.map((term) => `(${term})`).join(" OR ")})`;
}

/** Rows with one of these keys. */
export function isOneOf(
	columns: readonly BinlogColumn[],
	keys: readonly Key[],
): string {
	const [first, ...rest] = columns.map(({ name }) => quoted(name));
	if (rest.length === 0) return `${first} IN (${keys.join(",")})`;
	return keys
		.map((key) =>
			[first, ...rest].map((name, at) => `${name} = ${key[at]}`).join(" AND "),
		)
		.map((term) => `(${term})`)
		.join(" OR ");
}

/** More at once, and the optimizer has no memory to use the key. */
const KEYS = 500;
/** A server takes 16 MB or more in a statement. */
const LENGTH = 1_000_000;

/** Keys for statements of their own. */
export function* inGroups<T>(
	all: readonly T[],
	size = KEYS,
): Generator<readonly T[]> {
	for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
}

export function deleteRows(
	database: string,
	table: MovedTable,
	keys: readonly Key[],
): readonly string[] {
	return [...inGroups(keys)].map(
		(some) =>
			`DELETE FROM ${tableIn(database, table)} WHERE ${isOneOf(table.identity, some)}`,
	);
}

/** Rows as they are now, whatever was there under the same keys. */
export function replaceRows(
	database: string,
	table: MovedTable,
	rows: readonly Cells[],
): readonly string[] {
	const head = `REPLACE INTO ${tableIn(database, table)} (${listOf(table.columns)}) VALUES `;
	const statements: string[] = [];
	let some: string[] = [];
	let length = 0;
	const end = () => {
		if (some.length > 0) statements.push(head + some.join(","));
		some = [];
		length = 0;
	};
	for (const cells of rows) {
		const row = rowLiteral(cells, table.columns);
		if (length + row.length > LENGTH) end();
		some.push(row);
		length += row.length;
	}
	end();
	return statements;
}

/** A number of 64 bits for a row. MD5 and SHA1 are no part of MySQL 9.7; each value has its length before it. */
export function hashOf({ columns }: MovedTable): string {
	const parts = columns.flatMap(({ name, kind }) => {
		const column = quoted(name);
		return kind === "number"
			? [`ISNULL(${column})`, `IFNULL(${column}, 0)`]
			: [
					`ISNULL(${column})`,
					`IFNULL(LENGTH(${column}), 0)`,
					`IFNULL(${column}, '')`,
				];
	});
	return `CAST(CONV(LEFT(SHA2(CONCAT_WS('#', ${parts.join(", ")}), 224), 16), 16, 10) AS UNSIGNED)`;
}
