/**
 * A bucket of points that fills up evenly: `points` in `perMs`, and never holds
 * more. Who takes more than is there is told when it will be.
 */
export interface Filling {
	readonly points: number;
	readonly perMs: number;
}

export interface Bucket {
	/** As of `at` (ms). */
	readonly level: number;
	readonly at: number;
}

/** The bucket after taking `points` (giving back, where they are negative), or the ms to wait until they are there. */
export function take(
	{ points: size, perMs }: Filling,
	bucket: Bucket | undefined,
	points: number,
	now: number,
): { readonly bucket: Bucket } | { readonly waitMs: number } {
	const { level, at } = bucket ?? { level: size, at: now };
	const filled = Math.min(size, level + (Math.max(0, now - at) * size) / perMs);
	return points > filled
		? { waitMs: Math.ceil(((points - filled) * perMs) / size) }
		: { bucket: { level: Math.min(size, filled - points), at: now } };
}
