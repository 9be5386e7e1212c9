import type { Id } from "../../id/ids.ts";
import type { Value } from "./driver/mysql2Connection.ts";
import type { Sql } from "./driver/mysqlConnection.ts";

/** Part of a statement, with the values of its placeholders. */
export interface Fragment {
	readonly text: string;
	readonly values: readonly Value[];
}

/** Many SELECTs with the same columns as one statement. */
export function unionAll(name: string, parts: readonly Fragment[]): Sql {
	const [only] = parts;
	return {
		name,
		text:
			parts.length === 1 && only !== undefined
				? only.text
				: parts.map(({ text }) => `(${text})`).join("\nUNION ALL\n"),
		values: parts.flatMap(({ values }) => values),
	};
}

/** A condition that is true if any of these is. */
export function anyOf(conditions: readonly Fragment[]): Fragment {
	return {
		text: conditions.map(({ text }) => `(${text})`).join(" OR "),
		values: conditions.flatMap(({ values }) => values),
	};
}

/** `(?, ?), (?, ?)`: the rows of an INSERT. */
export function valuesOf(rows: readonly (readonly Value[])[]): Fragment {
	return {
		text: rows.map((row) => `(${row.map(() => "?").join(", ")})`).join(", "),
		values: rows.flat() as readonly Value[],
	};
}

/**
 * `1, 2`, for `IN ()`: integers that the program made are spelled out, because
 * the client's escaping costs more than all else of a long list.
 */
export function integers(values: Iterable<number>): string {
	const list = [...values];
	const other = list.find((value) => !Number.isSafeInteger(value));
	if (other === undefined) return list.join(", ");
	throw new TypeError(`A list of integers has ${other}.`);
}

/** The digits of an id, for the same reason. */
export function digitsOf(id: Id): string {
	if (DIGITS.test(id)) return id;
	throw new TypeError(`An id must be a decimal, got ${JSON.stringify(id)}.`);
}

/** A name of the model as an SQL string, for the same reason: the client searches the whole text for the place of a value. */
export function quotedName(name: string): string {
	if (NAME.test(name)) return `'${name}'`;
	throw new TypeError(
		`A name must be of letters, digits, _ and dots, got ${JSON.stringify(name)}.`,
	);
}

const NAME = /^[\w.]+$/;
const DIGITS = /^[0-9]{1,20}$/;
