/** Characters of a text that are shown. A message must not repeat a megabyte. */
const MAX_SHOWN = 40;

/** Control characters, line separators and marks that change the direction of writing: they would alter the line around them. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** A value from a client, for an error message: shortened, and escaped as in JSON. */
export function quoted(given: unknown): string {
	if (typeof given !== "string") return nameKind(given);
	const shown = JSON.stringify(given.slice(0, MAX_SHOWN)).replace(
		UNPRINTABLE,
		(character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
	);
	return given.length > MAX_SHOWN
		? `${shown}… (${given.length} characters)`
		: shown;
}

function nameKind(given: unknown): string {
	if (given === undefined) return "nothing";
	if (
		given === null ||
		typeof given === "number" ||
		typeof given === "boolean"
	) {
		return String(given);
	}
	if (Array.isArray(given)) return "a list";
	return typeof given === "object" ? "an object" : `a ${typeof given}`;
}
