import { CorkboardError } from "../../../errors.ts";
import type { Row } from "../mapping.ts";
import type { FoundRows, SourceTable } from "./source.ts";

/** What the two databases spell differently. */
export interface SqlSpelling {
	quote(name: string): string;
	/** The n-th value of a statement, from 1. */
	place(n: number): string;
	/** A column as text that compares with a text value. */
	asText(column: string): string;
}

export interface Statement {
	readonly text: string;
	readonly values: readonly unknown[];
}

/**
 * Rows after a key, in the order of the key. Databases find rows by `(a, b) > (?, ?)`
 * less well than by this. Columns are named: `*` leaves out those that are invisible,
 * and a column that is gone would be taken for null.
 */
export function pageStatement(
	sql: SqlSpelling,
	{ table, key, where }: SourceTable,
	{
		columns,
		after,
		since,
		limit,
	}: {
		readonly columns: readonly string[];
		readonly after?: readonly unknown[];
		readonly since?: { readonly column: string; readonly value: string };
		readonly limit: number;
	},
): Statement {
	const values: unknown[] = [];
	const place = (value: unknown) => sql.place(values.push(value));
	const names = key.map((column) => sql.quote(column));
	const conditions: string[] = where === undefined ? [] : [`(${where})`];
	if (after !== undefined) {
		const later = names.map((name, at) => {
			const equal = names
				.slice(0, at)
				.map((before, nth) => `${before} = ${place(after[nth])}`);
			return `(${[...equal, `${name} > ${place(after[at])}`].join(" AND ")})`;
		});
		conditions.push(`(${later.join(" OR ")})`);
	}
	if (since !== undefined) {
		conditions.push(`${sql.quote(since.column)} >= ${place(since.value)}`);
	}
	const filter =
		conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
	return {
		text: `SELECT ${columns.map(sql.quote).join(", ")} FROM ${sql.quote(table)}${filter} ORDER BY ${names.join(", ")} LIMIT ${limit}`,
		values,
	};
}

export function rowsStatement(
	sql: SqlSpelling,
	{ table, key, where, order = [] }: FoundRows,
	{
		columns,
		keys,
	}: {
		readonly columns: readonly string[];
		readonly keys: readonly (readonly (string | number)[])[];
	},
): Statement {
	const values: unknown[] = [];
	const place = (value: unknown) => sql.place(values.push(value));
	const names = key.map((column) => sql.quote(column));
	const wanted =
		names.length === 1
			? `${names[0]} IN (${keys.map(([only]) => place(only)).join(", ")})`
			: keys
					.map(
						(parts) =>
							`(${names.map((name, at) => `${name} = ${place(parts[at])}`).join(" AND ")})`,
					)
					.join(" OR ");
	const filter = where === undefined ? "" : ` AND (${where})`;
	const sorted =
		order.length === 0 ? "" : ` ORDER BY ${order.map(sql.quote).join(", ")}`;
	return {
		text: `SELECT ${columns.map(sql.quote).join(", ")} FROM ${sql.quote(table)} WHERE (${wanted})${filter}${sorted}`,
		values,
	};
}

/** Texts, quoted names and casts (`::text`) are left as they are; a colon and a name that has a value is that value. */
const NAMED = /'(?:[^'\\]|\\.|'')*'|"[^"]*"|`[^`]*`|::|:([A-Za-z_]\w*)/g;

/** A statement with `:name` for values. Throws BAD_CONFIG for a name that has none. */
export function namedStatement(
	sql: SqlSpelling,
	text: string,
	given: Row,
): Statement {
	const values: unknown[] = [];
	const placed = text.replaceAll(NAMED, (found, name: string | undefined) => {
		if (name === undefined) return found;
		if (!Object.hasOwn(given, name)) {
			throw new CorkboardError(
				"BAD_CONFIG",
				`:${name} has no value. Those with one are ${Object.keys(given)
					.map((known) => `:${known}`)
					.join(", ")}.`,
			);
		}
		return sql.place(values.push(given[name]));
	});
	return { text: placed, values };
}
