import type { IncomingMessage } from "node:http";
import type { GraphQLError } from "graphql";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import type { Budget } from "./budget.ts";
import type { LimitLevels } from "./limitLevels.ts";

/** With the value `1`, this request header asks for `extensions.cost`. */
const COST_HEADER = "corkboard-cost";

/** Edges and objects of one operation: its worst case, and what it read. */
interface CostReport {
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
	/** For the response; null if the client did not ask for it or nothing ran. */
	readonly cost: CostReport | null;
}

export function createCostMeter(options: {
	readonly isReported: boolean;
	readonly budget: Budget | null;
	/** Called if there is a budget. */
	readonly budgetKey: () => string;
	/** Keeps what is left of the budget. */
	readonly levels?: LimitLevels;
}): CostMeter {
	const { isReported, budget, levels } = options;
	const budgetKey = budget === null ? "" : options.budgetKey();
	// Fields: getters of its own would keep the request in memory (src/app/requests.ts).
	const meter: { -readonly [key in keyof CostMeter]: CostMeter[key] } = {
		admit(cost) {
			return andThen(budget?.take(budgetKey, cost, levels) ?? null, (error) => {
				if (error !== null) return error;
				meter.admitted = cost;
				if (isReported) meter.cost = { requested: cost, actual: 0 };
				return null;
			});
		},
		isMetering: isReported || budget !== null,
		recordReads(count) {
			const requested = meter.admitted;
			if (requested === null) return;
			if (isReported) meter.cost = { requested, actual: count };
			budget?.adjust(budgetKey, requested, count, levels);
		},
		admitted: null,
		cost: null,
	};
	return meter;
}

/** Only by POST: caches may keep the response to a GET and serve it to others. */
export function requestsCost({
	method,
	headers,
}: Pick<IncomingMessage, "method" | "headers">): boolean {
	return method === "POST" && headers[COST_HEADER] === "1";
}
