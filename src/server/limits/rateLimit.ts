import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { publishRefusal } from "../../plan/diagnostics.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
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

/** A request that was counted towards the rate limit of its address. */
export interface CountedRequest {
	/** Names and values in turn: the draft "RateLimit header fields for HTTP". */
	readonly headers: readonly string[];
	/** 429, where the address is over its limit. */
	readonly error: HttpError | null;
}

export function countRequest(
	{ buckets }: RateLimit,
	address: string,
): MaybePromise<CountedRequest> {
	const { points, perMs } = buckets.limit;
	// The prefix keeps it apart from a budget with the same limit.
	const taken = buckets.take(`requests of ${address}`, 1);
	return andThen(taken, ({ waitMs, level }): CountedRequest => {
		const isOver = waitMs > 0;
		if (isOver) publishRefusal("rate");
		const seconds = String(
			Math.ceil((isOver ? waitMs : msUntilFull(buckets.limit, level)) / 1_000),
		);
		return {
			headers: [
				"ratelimit-limit",
				String(points),
				"ratelimit-remaining",
				isOver ? "0" : String(Math.floor(level)),
				"ratelimit-reset",
				seconds,
				...(isOver ? ["retry-after", seconds] : []),
			],
			error: isOver
				? new HttpError(
						"UNAVAILABLE",
						`Rate limit exceeded: ${points} requests from one address in ${perMs / 1_000} s. Retry in ${seconds} s.`,
						429,
					)
				: null,
		};
	});
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
				const { headers, error } = await countRequest(
					rateLimit,
					addressOf(raw),
				);
				for (let at = 0; at < headers.length; at += 2) {
					reply.header(headers[at] as string, headers[at + 1]);
				}
				if (error !== null) throw error;
			},
		];
	});
}
