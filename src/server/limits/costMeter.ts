import type { FastifyRequest } from "fastify";
import type { GraphQLError } from "graphql";
import type { Budget } from "./budget.ts";

/** Sent with `1`, it asks for `extensions.cost`. */
export const COST_HEADER = "corkboard-cost";

/** What one operation may read at most, and what it did read: edges and objects. */
export interface CostReport {
	readonly requested: number;
	readonly actual: number;
}

/** Beside one operation: told its cost before it runs, and what it read after. */
export interface CostMeter {
	/** The error that refuses it, if it must not run. */
	admit(cost: number): Promise<GraphQLError | null>;
	/** Whether it matters what is read. */
	readonly isMetering: boolean;
	recordReads(count: number): void;
	/** To be told with the answer; null where nobody asked or nothing ran. */
	readonly cost: CostReport | null;
}

export function createCostMeter(options: {
	readonly isReported: boolean;
	readonly budget: Budget | null;
	readonly budgetKey: string;
}): CostMeter {
	const { isReported: asked, budget, budgetKey: spender } = options;
	let requested: number | null = null;
	let actual = 0;
	return {
		async admit(cost) {
			const refused = (await budget?.take(spender, cost)) ?? null;
			if (refused === null) requested = cost;
			return refused;
		},
		isMetering: asked || budget !== null,
		recordReads(count) {
			actual = count;
			if (requested === null) return;
			budget?.adjust(spender, requested, count);
		},
		get cost() {
			return asked && requested !== null ? { requested, actual } : null;
		},
	};
}

/** Only by POST: an answer to GET may be kept, and given to others. */
export function requestsCost({ method, headers }: FastifyRequest): boolean {
	return method === "POST" && headers[COST_HEADER] === "1";
}
