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

/** For the name of a statement: names without duplicates. */
export function namesOf(names: Iterable<string>): string {
	return [...new Set(names)].join(", ");
}
