import { createHash } from "node:crypto";
import { BoundedMap } from "../../util/boundedMap.ts";
import {
	type BucketLimit,
	type TakeResult,
	type TokenBucket,
	takePoints,
} from "../../util/tokenBucket.ts";

/** Token buckets that all processes share; null where the store does not answer in time. */
export interface SharedTokenBuckets {
	take(
		limit: BucketLimit,
		name: string,
		points: number,
	): Promise<TakeResult | null>;
}

/** One bucket for each key, all with the same limit. */
export interface TokenBuckets {
	readonly limit: BucketLimit;
	take(key: string, points: number): Promise<TakeResult>;
}

/** Keys that a process counts at a time. A forgotten key starts with a full bucket. */
const MAX_KEYS = 50_000;

/**
 * Buckets in Redis where there is one. While it does not answer (50 ms, then a
 * breaker skips it), each process counts by itself: a failure of Redis rejects
 * nobody, and gives nobody more than one extra bucket for each process.
 */
export function createTokenBuckets(
	limit: BucketLimit,
	shared: SharedTokenBuckets | null,
	now: () => number = () => performance.now(),
): TokenBuckets {
	const local = new BoundedMap<TokenBucket>({
		maxWeight: MAX_KEYS,
		weigh: () => 1,
	});
	return {
		limit,
		async take(key, points) {
			// Hashed, so that Redis holds neither addresses nor ids.
			const name = createHash("sha256").update(key).digest("base64url");
			const result = await shared?.take(limit, name, points);
			if (result) return result;
			const taken = takePoints(limit, local.get(name), points, now());
			local.set(name, taken.bucket);
			return taken;
		},
	};
}
