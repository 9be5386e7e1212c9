/** What is wrong with the options of a URL: those that do not exist, or are given twice; null if nothing is. It repeats no value. */
export function optionFault(
	{ search, searchParams }: Pick<URL, "search" | "searchParams">,
	/** Those that exist. */
	known: readonly string[],
): string | null {
	const exist =
		known.length === 0
			? "it takes no options"
			: `its options are ${known.join(", ")}`;
	const seen = new Set<string>();
	for (const name of searchParams.keys()) {
		// A question mark in a password that is not percent-encoded makes an option of the rest.
		const named =
			search.includes("@") || !NAME.test(name) ? "an option" : `"${name}"`;
		if (!known.includes(name)) {
			return `it has ${named}, which does not exist: ${exist}`;
		}
		if (seen.has(name)) return `it has ${named} twice`;
		seen.add(name);
	}
	return null;
}

const NAME = /^[a-z][a-z0-9_-]{0,30}$/i;
