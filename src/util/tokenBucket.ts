/**
 * A bucket of points that fills up evenly: `points` in `perMs`, and never holds
 * more. Who takes more than is there is told when it will be.
 */
export interface BucketLimit {
	readonly points: number;
	readonly perMs: number;
}

export interface TokenBucket {
	/** As of `at` (ms). */
	readonly level: number;
	readonly at: number;
}

/** What became of an attempt to take points. */
export interface TakeResult {
	/** 0 where they were taken (given back, where they are negative), else the ms until they are there. */
	readonly waitMs: number;
	/** What is in the bucket now. */
	readonly level: number;
}

export function takePoints(
	{ points: size, perMs }: BucketLimit,
	bucket: TokenBucket | undefined,
	points: number,
	now: number,
): TakeResult & { readonly bucket: TokenBucket } {
	const { level: before, at } = bucket ?? { level: size, at: now };
	const filled = Math.min(
		size,
		before + (Math.max(0, now - at) * size) / perMs,
	);
	const waitMs =
		points > filled ? Math.ceil(((points - filled) * perMs) / size) : 0;
	const level = waitMs > 0 ? filled : Math.min(size, filled - points);
	return { waitMs, level, bucket: { level, at: Math.max(at, now) } };
}

/** Until a bucket of this level is full again. */
export function msUntilFull(
	{ points, perMs }: BucketLimit,
	level: number,
): number {
	return Math.ceil(((points - level) * perMs) / points);
}
