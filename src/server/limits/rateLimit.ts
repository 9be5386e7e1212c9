import rateLimit, { type FastifyRateLimitStore } from "@fastify/rate-limit";
import type { FastifyInstance } from "fastify";
import { msUntilFull } from "../../util/tokenBucket.ts";
import { HttpError } from "../http/httpError.ts";
import {
	createTokenBuckets,
	type SharedTokenBuckets,
	type TokenBuckets,
} from "./tokenBuckets.ts";

/** How often one address (of IPv6, one /64) may send requests. */
export interface RateLimit {
	/** A point is a request. */
	readonly buckets: TokenBuckets;
}

/** `shared` is null where each process counts by itself. */
export function createRateLimit(
	{ requests, perMs }: { readonly requests: number; readonly perMs: number },
	shared: SharedTokenBuckets | null,
): RateLimit {
	return { buckets: createTokenBuckets({ points: requests, perMs }, shared) };
}

/**
 * Reject an address over its limit with 429, before its token or body is read.
 * Health requests do not count. What the address is depends on which proxies
 * are trusted.
 */
export async function registerRateLimit(
	app: FastifyInstance,
	{ buckets }: RateLimit,
): Promise<void> {
	const { points, perMs } = buckets.limit;
	await app.register(rateLimit, {
		max: points,
		timeWindow: perMs,
		store: storeIn(buckets),
		enableDraftSpec: true,
		allowList: (request) => request.url.startsWith("/health/"),
		errorResponseBuilder: (_request, { ttl }) =>
			new HttpError(
				"UNAVAILABLE",
				`Rate limit exceeded: ${points} requests from one address in ${perMs / 1_000} s. Retry in ${Math.ceil(ttl / 1_000)} s.`,
				429,
			),
	});
}

/**
 * Replaces the plugin's Redis store, which waits for Redis as long as the
 * client library does and then either fails the request or counts nothing.
 */
function storeIn(buckets: TokenBuckets): new () => FastifyRateLimitStore {
	const { limit } = buckets;
	return class BucketStore implements FastifyRateLimitStore {
		/** The plugin sends `ttl`, in seconds, as RateLimit-Reset, and as Retry-After with a 429. */
		incr(
			address: string,
			done: (
				error: Error | null,
				result?: { current: number; ttl: number },
			) => void,
		): void {
			// The prefix keeps it apart from a budget with the same limit.
			buckets.take(`requests of ${address}`, 1).then(
				({ waitMs, level }) =>
					done(
						null,
						waitMs > 0
							? { current: limit.points + 1, ttl: waitMs }
							: {
									current: limit.points - Math.floor(level),
									ttl: msUntilFull(limit, level),
								},
					),
				done,
			);
		}

		/** No route has a limit of its own. */
		child(): FastifyRateLimitStore {
			return this;
		}
	};
}
