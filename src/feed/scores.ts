/**
 * The stored score of an item, an integer that is compared within one source:
 *
 *     2^20 · (weight + log2(1 + quality) + affinity + age)
 *
 * `age` is the creation in half-lives since 2020 where newer is better, else 0.
 * So "twice as good" equals one half-life newer, today and in a month: nothing
 * has to be scored again while it waits.
 */
interface ScoreParts {
	/** At least 0, such as how often it was saved. */
	readonly quality: number;
	/** The receiver's, in doublings, 0 if nothing is known. */
	readonly affinity?: number;
	/** When the item was made. Milliseconds since 1970. */
	readonly createdAt: number;
	/** Milliseconds; null: newer is not better. */
	readonly halfLifeMs: number | null;
	/** The weight of the source, in doublings (default 0). */
	readonly weight?: number;
}

/** Followed users, boards and interests. */
export const HALF_LIFE_MS = 12 * 3_600_000;
/** One doubling. */
export const SCORE_UNIT = 2 ** 20;

const EPOCH_MS = Date.UTC(2020, 0, 1);
/** The greatest score. */
export const SCORE_LIMIT = 2 ** 52 - 1;

/** Never throws: a part that is no number counts as 0, and the sum is clamped to 0 … 2^52 - 1. */
export function scoreOf({
	quality,
	affinity = 0,
	createdAt,
	halfLifeMs,
	weight = 0,
}: ScoreParts): number {
	const age = halfLifeMs === null ? 0 : (createdAt - EPOCH_MS) / halfLifeMs;
	const parts = [weight, Math.log2(1 + Math.max(0, quality)), affinity, age];
	const sum = parts.reduce(
		(total, part) => total + (Number.isFinite(part) ? part : 0),
		0,
	);
	return Math.min(SCORE_LIMIT, Math.max(0, Math.round(SCORE_UNIT * sum)));
}
