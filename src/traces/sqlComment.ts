/**
 * Where a statement comes from, as a comment behind it, in the form of
 * sqlcommenter: https://google.github.io/sqlcommenter/spec/. Keys in order,
 * values percent-encoded.
 */
export function sqlComment(
	values: Readonly<Record<string, string | null>>,
): string {
	const pairs = Object.entries(values)
		.filter((pair): pair is [string, string] => pair[1] !== null)
		.sort(([a], [b]) => (a < b ? -1 : 1))
		.map(([key, value]) => `${encode(key)}='${encode(value)}'`);
	return pairs.length === 0 ? "" : `/*${pairs.join(",")}*/`;
}

/**
 * Letters, digits and `-._` stay. So nothing of a client can end the comment or
 * the value, begin another comment, or look like a placeholder; encodeURIComponent
 * alone would leave `'`, `*` and `!`.
 */
function encode(text: string): string {
	return encodeURIComponent(text.toWellFormed()).replaceAll(
		/[^\w.%-]/g,
		(character) =>
			`%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`,
	);
}
