import { createHash } from "node:crypto";
import { Lru } from "../../util/lru.ts";
import {
	type BucketLimit,
	type TakeResult,
	type TokenBucket,
	takePoints,
} from "../../util/tokenBucket.ts";

/** Buckets of all processes; null from one that does not answer in time. */
export interface SharedTokenBuckets {
	take(
		filling: BucketLimit,
		name: string,
		points: number,
	): Promise<TakeResult | null>;
}

/** A bucket for each owner, whoever that is. */
export interface TokenBuckets {
	readonly limit: BucketLimit;
	take(owner: string, points: number): Promise<TakeResult>;
}

/** Owners that are counted in a process at once. One that is forgotten begins anew. */
const MAX_OWNERS = 50_000;

/**
 * Shared between processes where there is a Redis. While that does not answer
 * (50 ms, then a breaker keeps it from being asked), each process counts for
 * itself: nobody is refused for Redis' sake, and nobody gets more than one
 * bucket more for each process.
 */
export function createTokenBuckets(
	filling: BucketLimit,
	shared: SharedTokenBuckets | null,
	now: () => number = () => performance.now(),
): TokenBuckets {
	const own = new Lru<TokenBucket>({ maxWeight: MAX_OWNERS, weigh: () => 1 });
	return {
		limit: filling,
		async take(owner, points) {
			// Redis is told neither addresses nor ids.
			const name = createHash("sha256").update(owner).digest("base64url");
			const told = await shared?.take(filling, name, points);
			if (told) return told;
			const taken = takePoints(filling, own.get(name), points, now());
			own.set(name, taken.bucket);
			return taken;
		},
	};
}
