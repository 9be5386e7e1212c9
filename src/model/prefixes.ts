/**
 * What a list by prefix holds (docs/how-to/schema.md, "Lists by prefix"): for each word
 * at the beginning of a text, its beginnings of each length up to the longest.
 */

/** The longest prefix that has a list, in code points. Behind it names are few enough to be filtered. */
const LONGEST_PREFIX = 10;

/** Words of a text that can be found; others are not. */
const MOST_WORDS = 4;

/** A longer text is no beginning of anything that is stored. UTF-16 units. */
const LONGEST_TEXT = 400;

/**
 * What stands inside a word and is often left out by those who type it: apostrophes of
 * all kinds, soft hyphens, and characters without width that join or part letters.
 */
const JOINERS = /['`´‘’ʹʼ′＇\u00AD\u200B-\u200D\u2060\uFEFF]+/gu;

const MARKS = /\p{M}+/gu;
const WORDS = /[\p{L}\p{N}_]+/gu;

/** Letters that Unicode does not decompose, as people type them. */
const PLAIN: Readonly<Record<string, string>> = {
	æ: "ae",
	đ: "d",
	ð: "d",
	ł: "l",
	œ: "oe",
	ø: "o",
	þ: "th",
};
const NOT_PLAIN = /[æđðłœøþ]/g;

/**
 * The words of a text without case, accents and width: `Łukasz O'Brien-Groß` is
 * `lukasz`, `o`, `brien`, `gross`. By upper case, so that `ß` is `ss` and a
 * dotless `ı` is `i`; from lower case, since `ẞ` has no other upper case; a final
 * sigma is any sigma.
 */
export function foldedWords(text: string): readonly string[] {
	if (text.length > LONGEST_TEXT) return [];
	const folded = text
		.normalize("NFKD")
		.replace(MARKS, "")
		.toLowerCase()
		.toUpperCase()
		.toLowerCase()
		// Upper case may have brought marks.
		.normalize("NFKD")
		.replace(MARKS, "")
		.replaceAll("ς", "σ")
		.replace(NOT_PLAIN, (letter) => PLAIN[letter] as string);
	return folded.match(WORDS) ?? [];
}

/** The words of a text, once with words parted where something joins them, and once without: `O'Brien` is `o`, `brien`, and `obrien`. */
function spellingsOf(text: string): readonly (readonly string[])[] {
	const joined = text.replace(JOINERS, "");
	return joined === text
		? [foldedWords(text)]
		: [foldedWords(text), foldedWords(joined)];
}

/** All prefixes of these texts that have a list. */
export function prefixesOf(texts: readonly string[]): ReadonlySet<string> {
	const prefixes = new Set<string>();
	for (const words of texts.flatMap(spellingsOf)) {
		for (const word of words.slice(0, MOST_WORDS)) {
			let prefix = "";
			for (const letter of [...word].slice(0, LONGEST_PREFIX)) {
				prefix += letter;
				prefixes.add(prefix);
			}
		}
	}
	return prefixes;
}

/** A beginning that a client asks for. */
export interface PrefixQuery {
	/** That of the list which has all matches: of its words the longest, so that "ana garcia" does not read everybody whose name is Ana. */
	readonly prefix: string;
	/** Whether all that is on that list matches. */
	readonly isWhole: boolean;
	/** Folded, with single spaces. */
	readonly text: string;
}

/** Null for a text without a letter, digit or underscore, or one that is too long: nothing begins with it. */
export function prefixQuery(given: string): PrefixQuery | null {
	const words = foldedWords(given);
	let letters: readonly string[] = [];
	// A word behind these has no list, wherever in a name the first one is.
	for (const word of words.slice(0, MOST_WORDS)) {
		const all = [...word];
		if (all.length > letters.length) letters = all;
	}
	if (letters.length === 0) return null;
	return {
		prefix: letters.slice(0, LONGEST_PREFIX).join(""),
		isWhole: words.length === 1 && letters.length <= LONGEST_PREFIX,
		text: words.join(" "),
	};
}

/** Whether one of the texts, from one of its first words on, begins with what is asked for. */
export function matchesPrefix(
	texts: readonly string[],
	{ text }: PrefixQuery,
): boolean {
	return texts
		.flatMap(spellingsOf)
		.some((words) =>
			words
				.slice(0, MOST_WORDS)
				.some((_, at) => words.slice(at).join(" ").startsWith(text)),
		);
}
