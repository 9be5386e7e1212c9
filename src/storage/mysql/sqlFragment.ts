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
