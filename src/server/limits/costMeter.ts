import type { IncomingMessage } from "node:http";
import type { GraphQLError } from "graphql";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import type { Budget } from "./budget.ts";

/** With the value `1`, this request header asks for `extensions.cost`. */
const COST_HEADER = "corkboard-cost";

/** Edges and objects of one operation: its worst case, and what it read. */
export interface CostReport {
	readonly requested: number;
	readonly actual: number;
}

/** Accompanies one operation, for its budget and its cost report. */
export interface CostMeter {
	/** Called with the worst-case cost; an error means that the operation must not run. */
	admit(cost: number): MaybePromise<GraphQLError | null>;
	/** Whether reads need to be counted. */
	readonly isMetering: boolean;
	recordReads(count: number): void;
	/** The cost that was admitted; null before. */
	readonly admitted: number | null;
	/** For the response; null where the client did not ask for it or nothing ran. */
	readonly cost: CostReport | null;
}

export function createCostMeter(options: {
	readonly isReported: boolean;
	readonly budget: Budget | null;
	/** Called where there is a budget. */
	readonly budgetKey: () => string;
}): CostMeter {
	const { isReported, budget } = options;
	let requested: number | null = null;
	let actual = 0;
	const budgetKey = budget === null ? "" : options.budgetKey();
	return {
		admit(cost) {
			return andThen(budget?.take(budgetKey, cost) ?? null, (error) => {
				if (error === null) requested = cost;
				return error;
			});
		},
		isMetering: isReported || budget !== null,
		recordReads(count) {
			actual = count;
			if (requested === null) return;
			budget?.adjust(budgetKey, requested, count);
		},
		get admitted() {
			return requested;
		},
		get cost() {
			return isReported && requested !== null ? { requested, actual } : null;
		},
	};
}

/** Only by POST: caches may keep the response to a GET and serve it to others. */
export function requestsCost({
	method,
	headers,
}: Pick<IncomingMessage, "method" | "headers">): boolean {
	return method === "POST" && headers[COST_HEADER] === "1";
}
