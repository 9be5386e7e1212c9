import type { Sql } from "./mysqlConnection.ts";

/** About how many characters are sent together: the server accepts packets of 16 MB. */
const TOGETHER_LENGTH = 1_000_000;

/** As many statements as fit into one round trip; a longer one goes alone. */
export function* byLength(
	statements: readonly Sql[],
): Generator<readonly Sql[]> {
	let some: Sql[] = [];
	let length = 0;
	for (const sql of statements) {
		const own = lengthOf(sql);
		if (some.length > 0 && length + own > TOGETHER_LENGTH) {
			yield some;
			some = [];
			length = 0;
		}
		some.push(sql);
		length += own;
	}
	if (some.length > 0) yield some;
}

function lengthOf({ text, values }: Sql): number {
	let length = text.length;
	for (const value of values) {
		if (typeof value === "string") length += value.length;
	}
	return length;
}
