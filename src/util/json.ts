export type JsonValue =
	| null
	| boolean
	| number
	| string
	| readonly JsonValue[]
	| JsonObject;

export interface JsonObject {
	readonly [key: string]: JsonValue;
}

/** What JSON escapes in a string. A pair of surrogates is not escaped, but one alone is: JSON.stringify decides. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON escapes them
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

/** A string as JSON. */
export function quote(text: string): string {
	return ESCAPED.test(text) ? JSON.stringify(text) : `"${text}"`;
}
