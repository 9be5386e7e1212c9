import { HeaderMap } from "@apollo/server";
import { normalizeIP } from "@fastify/rate-limit";
import type { FastifyRequest } from "fastify";
import { GraphQLError } from "graphql";
import type { Id } from "../../id/ids.ts";
import type { BucketLimit } from "../../util/tokenBucket.ts";
import {
	createTokenBuckets,
	type SharedTokenBuckets,
	type TokenBuckets,
} from "./tokenBuckets.ts";

/** How much one viewer, or one address, may have read. */
export interface Budget {
	/** Takes an operation's cost before it runs; answers TOO_EXPENSIVE with `Retry-After` when there is not enough. */
	take(spender: string, cost: number): Promise<GraphQLError | null>;
	/**
	 * Once it is known what was read: gives back what was not used, or takes what
	 * was read beyond the cost, as far as there is any. Nobody waits for it.
	 */
	adjust(spender: string, cost: number, read: number): void;
}

/** `shared` is null where this process counts for itself. */
export function createBudget(
	filling: BucketLimit,
	shared: SharedTokenBuckets | null,
	now?: () => number,
): Budget {
	const buckets = createTokenBuckets(filling, shared, now);
	return {
		async take(spender, cost) {
			const { waitMs } = await buckets.take(spender, leastOf(cost));
			return waitMs > 0 ? exhausted(filling, cost, waitMs) : null;
		},
		adjust(spender, cost, read) {
			// The link to Redis answers null for what fails; the rest is arithmetic.
			void adjustLevel(buckets, spender, leastOf(read) - leastOf(cost));
		},
	};
}

async function adjustLevel(
	buckets: TokenBuckets,
	spender: string,
	points: number,
): Promise<void> {
	if (points === 0) return;
	const { waitMs, level } = await buckets.take(spender, points);
	// Redis tells levels rounded.
	if (waitMs > 0) await buckets.take(spender, Math.floor(level));
}

/** Also an operation that reads nothing is work. */
function leastOf(cost: number): number {
	return Math.max(1, cost);
}

/** Who pays: the viewer, or the address of one who is not known; of IPv6 the /64 that one customer has. */
export function budgetKeyOf(
	viewer: Id | null,
	request: FastifyRequest,
): string {
	if (viewer !== null) return `viewer ${viewer}`;
	return `address ${normalizeIP(request.ip)}`;
}

function exhausted(
	{ points, perMs }: BucketLimit,
	cost: number,
	waitMs: number,
): GraphQLError {
	const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
	return new GraphQLError(
		`Expected at most ${points} edges and objects to be read in ${perMs / 1_000} s but this operation, which may read ${cost}, would be more. Ask again in ${seconds} s.`,
		{
			extensions: {
				code: "TOO_EXPENSIVE",
				http: {
					status: 429,
					headers: new HeaderMap([["retry-after", String(seconds)]]),
				},
			},
		},
	);
}
