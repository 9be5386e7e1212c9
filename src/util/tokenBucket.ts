/**
 * A token bucket holds at most `points`, and refills evenly from empty to full
 * in `perMs`.
 */
export interface BucketLimit {
	readonly points: number;
	readonly perMs: number;
}

export interface TokenBucket {
	/** At the time `at` (ms). */
	readonly level: number;
	readonly at: number;
}

export interface TakeResult {
	/** 0 if the points were taken, else the ms until there are enough. Negative points are given back. */
	readonly waitMs: number;
	readonly level: number;
}

export function takePoints(
	{ points: size, perMs }: BucketLimit,
	bucket: TokenBucket | undefined,
	points: number,
	now: number,
): TakeResult & { readonly bucket: TokenBucket } {
	const { level: before, at } = bucket ?? { level: size, at: now };
	const refilled = Math.min(
		size,
		before + (Math.max(0, now - at) * size) / perMs,
	);
	const waitMs =
		points > refilled ? Math.ceil(((points - refilled) * perMs) / size) : 0;
	const level = waitMs > 0 ? refilled : Math.min(size, refilled - points);
	return { waitMs, level, bucket: { level, at: Math.max(at, now) } };
}

export function msUntilFull(
	{ points, perMs }: BucketLimit,
	level: number,
): number {
	return Math.ceil(((points - level) * perMs) / points);
}
