import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance } from "fastify";
import { Refusal } from "./refusal.ts";

/** So many requests from one address (of IPv6, one /64) in so many milliseconds. */
export interface RateLimit {
	readonly requests: number;
	readonly perMs: number;
}

/** Addresses that are counted at once; the one not seen for longest is forgotten. */
const MAX_ADDRESSES = 10_000;

/**
 * 429 for an address that asks too often, before its token or body is looked
 * at. Each process counts for itself, and health is not counted. Who an address
 * is depends on whether X-Forwarded-For is believed.
 */
export async function limitRates(
	app: FastifyInstance,
	{ requests, perMs }: RateLimit,
): Promise<void> {
	await app.register(rateLimit, {
		max: requests,
		timeWindow: perMs,
		cache: MAX_ADDRESSES,
		enableDraftSpec: true,
		allowList: (request) => request.url.startsWith("/health/"),
		errorResponseBuilder: (_request, { ttl }) =>
			new Refusal(
				429,
				`Expected at most ${requests} requests from one address in ${perMs / 1_000} s but got more. Ask again in ${Math.ceil(ttl / 1_000)} s.`,
			),
	});
}
