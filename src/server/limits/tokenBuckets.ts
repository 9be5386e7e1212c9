import { hash } from "node:crypto";
import { BoundedMap } from "../../util/boundedMap.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import {
	type BucketLimit,
	type TakeResult,
	type TokenBucket,
	takePoints,
} from "../../util/tokenBucket.ts";

/** Token buckets that all processes share; null if the store does not answer in time. */
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
	/** At once if no other process shares the buckets. */
	take(key: string, points: number): MaybePromise<TakeResult>;
}

/** Keys that a process counts at a time. A forgotten key starts with a full bucket. */
const MAX_KEYS = 50_000;

/**
 * Buckets in Redis if there is one. While it does not answer (50 ms, then a
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
	function takeLocally(key: string, points: number): TakeResult {
		const taken = takePoints(limit, local.get(key), points, now());
		local.set(key, taken.bucket);
		return taken;
	}

	async function takeShared(
		shared: SharedTokenBuckets,
		key: string,
		points: number,
	): Promise<TakeResult> {
		// Hashed, so that Redis holds neither addresses nor ids.
		const name = hash("sha256", key, "base64url");
		const result = await shared.take(limit, name, points);
		return result ?? takeLocally(key, points);
	}

	return {
		limit,
		take: (key, points) =>
			shared === null
				? takeLocally(key, points)
				: takeShared(shared, key, points),
	};
}
