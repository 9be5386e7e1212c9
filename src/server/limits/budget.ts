import { HeaderMap } from "@apollo/server";
import { GraphQLError } from "graphql";
import type { Id } from "../../id/ids.ts";
import { publishRefusal } from "../../plan/diagnostics.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import type { BucketLimit } from "../../util/tokenBucket.ts";
import type { LimitLevels } from "./limitLevels.ts";
import {
	createTokenBuckets,
	type SharedTokenBuckets,
	type TokenBuckets,
} from "./tokenBuckets.ts";

/** Limits how many edges and objects one viewer or address reads in a period. */
export interface Budget {
	/** Takes an operation's worst-case cost before it runs; resolves to TOO_EXPENSIVE with `Retry-After` if there is not enough. */
	take(
		budgetKey: string,
		cost: number,
		levels?: LimitLevels,
	): MaybePromise<GraphQLError | null>;
	/**
	 * After the operation: gives back what it did not read, or takes what it read
	 * beyond its cost, down to an empty bucket. Nobody waits for this.
	 */
	adjust(
		budgetKey: string,
		cost: number,
		read: number,
		levels?: LimitLevels,
	): void;
}

/** `shared` is null if each process counts by itself. */
export function createBudget(
	limit: BucketLimit,
	shared: SharedTokenBuckets | null,
	now?: () => number,
): Budget {
	const buckets = createTokenBuckets(limit, shared, now);
	return {
		take: (budgetKey, cost, levels) =>
			andThen(buckets.take(budgetKey, pointsOf(cost)), ({ waitMs, level }) => {
				if (levels !== undefined) levels.budget = { limit, level, waitMs };
				return waitMs > 0 ? exceeded(limit, cost, waitMs) : null;
			}),
		adjust(budgetKey, cost, read, levels) {
			const points = pointsOf(read) - pointsOf(cost);
			if (levels?.budget) {
				// What the bucket is going to have: the response does not wait for it.
				const level = Math.max(0, levels.budget.level - points);
				levels.budget = {
					...levels.budget,
					level: Math.min(limit.points, level),
				};
			}
			// Cannot reject: shared buckets resolve to null when they fail.
			void adjustLevel(buckets, budgetKey, points);
		},
	};
}

async function adjustLevel(
	buckets: TokenBuckets,
	budgetKey: string,
	points: number,
): Promise<void> {
	if (points === 0) return;
	const { waitMs, level } = await buckets.take(budgetKey, points);
	// Rounded down, because Redis returns rounded levels.
	if (waitMs > 0) await buckets.take(budgetKey, Math.floor(level));
}

/** An operation that reads nothing also takes time. */
function pointsOf(cost: number): number {
	return Math.max(1, cost);
}

/** The viewer, or the address of an anonymous request. */
export function budgetKeyOf(viewer: Id | null, address: () => string): string {
	return viewer === null ? `address ${address()}` : `viewer ${viewer}`;
}

function exceeded(
	{ points, perMs }: BucketLimit,
	cost: number,
	waitMs: number,
): GraphQLError {
	publishRefusal("budget");
	const seconds = Math.max(1, Math.ceil(waitMs / 1_000));
	return new GraphQLError(
		`Budget exceeded: this operation costs ${cost}, and ${points} edges and objects may be read in ${perMs / 1_000} s. Retry in ${seconds} s.`,
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
