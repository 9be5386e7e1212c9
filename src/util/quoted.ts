/** What of a value is shown; an error says what came, and does not repeat a megabyte of it. */
const SHOWN = 40;

/** Controls, separators of lines, marks that turn the direction of writing: nothing that changes the line it is shown in. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** What a client sent, fit to stand in an error's message: shortened, and escaped as in JSON. */
export function quoted(given: unknown): string {
	if (typeof given !== "string") return typed(given);
	const shown = JSON.stringify(given.slice(0, SHOWN)).replace(
		UNPRINTABLE,
		(character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
	);
	return given.length > SHOWN
		? `${shown}… (${given.length} characters)`
		: shown;
}

function typed(given: unknown): string {
	if (given === null || given === undefined) return "nothing";
	if (typeof given === "number" || typeof given === "boolean") {
		return String(given);
	}
	return Array.isArray(given) ? "a list" : `a value of type ${typeof given}`;
}
