/**
 * Terms that this project no longer uses, each with the standard term for it.
 * They are matched as whole words, also inside identifiers: `payNow`, `pay_now`
 * and `pay` all hold the word "pay".
 */
export const RETIRED: Readonly<Record<string, string>> = {
	...words("debt debts owe owes owed owing owers", "outbox entry, pending"),
	...words("pay pays paid paying unpaid payer", "deliver, delivered"),
	...words(
		"sweep sweeps sweeper sweeping swept",
		"outbox worker, delivery pass",
	),
	...words("nonce nonces", "token"),
	...words("fate fates", "status"),
	...words("bury buries buried burying burial", "invalidate"),
	...words("tombstone tombstones", "delete"),
	...words("heard", "applied"),
	...words("tell tells telling told", "trace, report, say"),
	...words("unsent untold", "pending invalidations"),
	...words("price prices priced pricing", "cost"),
	...words("dear costly", "over the limit"),
	...words("tally tallies", "cost meter"),
	...words("spender spenders", "budget key"),
	...words("survey surveys surveyed", "analyze, worst-case cost"),
	...words("mend mends mended mending", "repair"),
};

export interface RetiredUse {
	readonly line: number;
	readonly word: string;
	readonly instead: string;
}

/** Where a text uses retired terms. Lines count from 1. */
export function retiredUses(text: string): readonly RetiredUse[] {
	return text.split("\n").flatMap((line, index) =>
		wordsOf(line).flatMap((word) => {
			const instead = Object.hasOwn(RETIRED, word) ? RETIRED[word] : undefined;
			return instead === undefined ? [] : [{ line: index + 1, word, instead }];
		}),
	);
}

/** Words in lower case; camelCase, snake_case and CAPITALS are taken apart. */
function wordsOf(line: string): readonly string[] {
	return (line.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map((word) =>
		word.toLowerCase(),
	);
}

function words(list: string, instead: string): Record<string, string> {
	return Object.fromEntries(list.split(" ").map((word) => [word, instead]));
}
