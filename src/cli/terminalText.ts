/**
 * Characters that a terminal obeys instead of showing: controls but line feed
 * and tab, separators of lines, and marks that change the direction of what
 * follows. A carriage return before a line feed is the end of a line.
 */
const OBEYED =
	// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
	/[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]|\r(?!\n)/g;

/** Text of others for a terminal. The escapes are those of JSON, so that printed JSON stays what it is. */
export function terminalText(text: string): string {
	return text.replaceAll(
		OBEYED,
		(character) =>
			`\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
	);
}
