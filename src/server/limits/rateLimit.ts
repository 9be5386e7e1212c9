import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { publishRefusal } from "../../plan/diagnostics.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import { HttpError } from "../http/httpError.ts";
import { LimitLevels, secondsUntilMore } from "./limitLevels.ts";
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

/** `shared` is null if each process counts by itself. */
export function createRateLimit(
	{ requests, perMs }: { readonly requests: number; readonly perMs: number },
	shared: SharedTokenBuckets | null,
): RateLimit {
	return { buckets: createTokenBuckets({ points: requests, perMs }, shared) };
}

/** Counts a request towards the rate limit of its address. Resolves to 429 if it is over the limit. */
export function countRequest(
	{ buckets }: RateLimit,
	address: string,
	levels: LimitLevels,
): MaybePromise<RateLimitError | null> {
	const { limit } = buckets;
	const { points, perMs } = limit;
	// The prefix keeps it apart from a budget with the same limit.
	const taken = buckets.take(`requests of ${address}`, 1);
	return andThen(taken, ({ waitMs, level }) => {
		levels.requests = { limit, level, waitMs };
		if (waitMs === 0) return null;
		publishRefusal("rate");
		const seconds = secondsUntilMore(levels.requests);
		return {
			retryAfter: String(seconds),
			error: new HttpError(
				"UNAVAILABLE",
				`Rate limit exceeded: ${points} requests from one address in ${perMs / 1_000} s. Retry in ${seconds} s.`,
				429,
			),
		};
	});
}

interface RateLimitError {
	readonly error: HttpError;
	/** Seconds. */
	readonly retryAfter: string;
}

/**
 * Reject an address over its limit with 429, before its token or body is read.
 * Health requests do not count, nor URLs without a route.
 */
export function registerRateLimit(
	app: FastifyInstance,
	rateLimit: RateLimit,
	addressOf: (message: IncomingMessage) => string,
): void {
	app.addHook("onRoute", (route) => {
		if (route.url.startsWith("/health/")) return;
		route.onRequest = [
			...[route.onRequest ?? []].flat(),
			async ({ raw }: FastifyRequest, reply: FastifyReply) => {
				const levels = new LimitLevels();
				const over = await countRequest(rateLimit, addressOf(raw), levels);
				const { headers } = levels;
				for (let at = 0; at < headers.length; at += 2) {
					reply.header(headers[at] as string, headers[at + 1]);
				}
				if (over === null) return;
				reply.header("retry-after", over.retryAfter);
				throw over.error;
			},
		];
	});
}
