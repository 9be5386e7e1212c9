/**
 * The candidate with the smallest edit distance, for a suggestion. At most a
 * third of the word's letters, and one more, may differ, as in graphql-js
 * (jsutils/suggestionList).
 */
export function nearest(
	word: string,
	candidates: Iterable<string>,
): string | undefined {
	let best: string | undefined;
	let bestDistance = Math.floor(word.length / 3) + 1;
	for (const candidate of candidates) {
		// The distance is at least the difference of the lengths. A megabyte of text is compared with nothing.
		if (Math.abs(word.length - candidate.length) > bestDistance) continue;
		const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
		if (distance <= bestDistance && (!best || distance < bestDistance)) {
			best = candidate;
			bestDistance = distance;
		}
	}
	return best;
}

/** " Did you mean X?" to follow a sentence, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
	const meant = nearest(word, candidates);
	return meant === undefined ? "" : ` Did you mean ${meant}?`;
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
	let row = Array.from({ length: b.length + 1 }, (_, column) => column);
	for (let i = 1; i <= a.length; i++) {
		const next = [i];
		for (let j = 1; j <= b.length; j++) {
			const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
			const inserted = (next[j - 1] ?? 0) + 1;
			const deleted = (row[j] ?? 0) + 1;
			next.push(Math.min(substituted, inserted, deleted));
		}
		row = next;
	}
	return row[b.length] ?? 0;
}
