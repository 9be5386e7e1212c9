import rateLimit, { type FastifyRateLimitStore } from "@fastify/rate-limit";
import type { FastifyInstance } from "fastify";
import { msUntilFull } from "../../util/tokenBucket.ts";
import { HttpError } from "../http/httpError.ts";
import {
	createTokenBuckets,
	type SharedTokenBuckets,
	type TokenBuckets,
} from "./tokenBuckets.ts";

/** How often one address (of IPv6, one /64) may ask. */
export interface RateLimit {
	/** A point is a request. */
	readonly buckets: TokenBuckets;
}

/** So many requests in so many milliseconds. `shared` is null where this process counts for itself. */
export function createRateLimit(
	{ requests, perMs }: { readonly requests: number; readonly perMs: number },
	shared: SharedTokenBuckets | null,
): RateLimit {
	return { buckets: createTokenBuckets({ points: requests, perMs }, shared) };
}

/**
 * 429 for an address that asks too often, before its token or body is looked
 * at. Health is not counted. Who an address is depends on whether
 * X-Forwarded-For is believed.
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
				429,
				`Expected at most ${points} requests from one address in ${perMs / 1_000} s but got more. Ask again in ${Math.ceil(ttl / 1_000)} s.`,
			),
	});
}

/**
 * The plugin's own store on Redis waits for it as long as the client library
 * does, and then either fails the request or counts nothing.
 */
function storeIn(buckets: TokenBuckets): new () => FastifyRateLimitStore {
	const { limit: filling } = buckets;
	return class BucketStore implements FastifyRateLimitStore {
		/** The plugin tells `ttl`, in seconds, as RateLimit-Reset, and as Retry-After to who has to wait. */
		incr(
			address: string,
			done: (
				error: Error | null,
				result?: { current: number; ttl: number },
			) => void,
		): void {
			// Not a spender's name: a budget may fill as this does.
			buckets.take(`requests of ${address}`, 1).then(
				({ waitMs, level }) =>
					done(
						null,
						waitMs > 0
							? { current: filling.points + 1, ttl: waitMs }
							: {
									current: filling.points - Math.floor(level),
									ttl: msUntilFull(filling, level),
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
