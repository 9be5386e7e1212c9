import type { DocumentNode, GraphQLError, GraphQLSchema } from "graphql";
import { CorkboardError } from "../errors.ts";
import type { Visibility } from "../graph/domain.ts";
import type { Graph } from "../graph/types.ts";
import type { Model } from "../model/types.ts";
import type { Resolvers } from "./batchResolver.ts";
import type { BoundPlan } from "./boundPlan.ts";
import { type Cost, costLimitError, costOf } from "./cost.ts";
import { requestError } from "./errors.ts";
import {
	type ExecutionResult,
	executePlan,
	type Tracer,
} from "./executePlan.ts";
import {
	createExplainRecorder,
	type ExplainOptions,
	type ExplainOutput,
	type ExplainWithErrors,
	withErrors,
} from "./explainRecorder.ts";
import { createPlanCache, type Operation } from "./planCache.ts";
import { analyzeWorstCaseCost, type WorstCaseCost } from "./worstCaseCost.ts";

export interface PlannerOptions<Context> {
	/** What clients see, its scalars able to serialize. */
	readonly schema: GraphQLSchema;
	readonly model: Model;
	readonly resolvers: Resolvers<Context>;
	/** Edges and objects that one operation may read. */
	readonly maxCost: number;
	/** Compiled plans that are kept. */
	readonly maxPlans: number;
	/** Which objects are read to decide whether another is visible, and which lists depend on the viewer. */
	readonly visibility: Pick<Visibility, "dependenciesOf" | "isPrivateList">;
}

/** A validated operation of a client's. The context is made anew for each request and holds its view of the graph. */
export interface OperationRequest<Context> extends Operation {
	readonly context: Context & { readonly graph: Graph };
	readonly signal?: AbortSignal;
	/** Told the cost of what is within the limit, before anything is read; may refuse it. */
	readonly admit?: (cost: number) => Promise<GraphQLError | null>;
	/** Given where the answer is to come with an account of its run. */
	readonly explain?: ExplainOptions;
}

/** An answer; without `data` if the request was refused before anything was read. */
export type OperationResponse = (
	| ExecutionResult
	| { readonly errors: readonly GraphQLError[]; readonly data?: never }
) & { readonly extensions?: { readonly explain?: ExplainOutput } };

export interface Planner<Context> {
	/** Never rejects. */
	execute(request: OperationRequest<Context>): Promise<OperationResponse>;
	/** What it may read at most, and the limit; nothing is read. */
	cost(operation: Operation): Cost | readonly GraphQLError[];
	/** Each operation of a document whose requests are still to come: what it may read at most, whatever its variables. */
	analyzeWorstCaseCost(document: DocumentNode): readonly WorstCaseCost[];
	/** Compile a document's operations now, and keep the plans as long as the document. */
	prepare(document: DocumentNode): void;
	/** Whether a resolver's answer in this operation depends on who asks. */
	dependsOnViewer(operation: Operation): boolean;
	/** Run it, with an account of every step. An operation over the limit is explained too, but not run. */
	explain(
		request: OperationRequest<Context> & ExplainOptions,
	): Promise<ExplainWithErrors | readonly GraphQLError[]>;
}

export function createPlanner<Context extends object>(
	options: PlannerOptions<Context>,
): Planner<Context> {
	const { schema, maxCost, visibility } = options;
	const guards = visibility.dependenciesOf;
	checkResolvers(options);
	const plans = createPlanCache(options, { maxPlans: options.maxPlans });

	async function execute(
		request: OperationRequest<Context>,
	): Promise<OperationResponse> {
		try {
			const bound = plans.bind(request);
			if (isRefused(bound)) return { errors: bound };
			const cost = costOf(bound, guards);
			const account = request.explain
				? createExplainRecorder(bound, {
						...request.explain,
						cost,
						limit: maxCost,
					})
				: null;
			const refusal =
				costLimitError(cost, maxCost) ??
				(await request.admit?.(cost.total)) ??
				null;
			const answer =
				refusal === null
					? await executePlan(
							bound,
							runOptions(schema, request, account?.tracer),
						).catch((thrown) => ({ errors: [requestError(thrown)] }))
					: { errors: [refusal] };
			return account === null
				? answer
				: { ...answer, extensions: { explain: account.output() } };
		} catch (bug) {
			return { errors: [requestError(bug)] };
		}
	}

	return {
		execute,

		cost(operation) {
			const bound = plans.bind(operation);
			return isRefused(bound) ? bound : costOf(bound, guards);
		},

		analyzeWorstCaseCost: (document) =>
			analyzeWorstCaseCost(options, guards, document),

		prepare: plans.prepare,

		dependsOnViewer(operation) {
			const bound = plans.bind(operation);
			return isRefused(bound) || bound.plan.dependsOnViewer;
		},

		async explain(request) {
			const { hostOf } = request;
			const { errors, extensions } = await execute({
				...request,
				explain: hostOf ? { hostOf } : {},
			});
			return extensions?.explain
				? withErrors(extensions.explain, errors)
				: (errors ?? []);
		},
	};
}

function isRefused(
	bound: BoundPlan | readonly GraphQLError[],
): bound is readonly GraphQLError[] {
	return Array.isArray(bound);
}

function runOptions<Context>(
	schema: GraphQLSchema,
	{ context, signal }: OperationRequest<Context>,
	tracer: Tracer | undefined,
) {
	return {
		schema,
		context,
		...(signal ? { signal } : {}),
		...(tracer ? { tracer } : {}),
	};
}

/** A field without a source, or with two, stops the start. */
function checkResolvers<Context>({
	model,
	resolvers,
}: PlannerOptions<Context>): void {
	const expected = new Set<string>();
	for (const [type, fields] of model.sources) {
		for (const [field, { kind }] of fields) {
			if (kind === "resolver") expected.add(`${type}.${field}`);
		}
	}
	const faults = [
		...[...expected]
			.filter((field) => !resolvers.has(field))
			.map((field) => `expected a resolver for ${field} but got: none`),
		...[...resolvers.keys()]
			.filter((field) => !expected.has(field))
			.map((field) => `expected no resolver for ${field} but got: one`),
	];
	if (faults.length > 0) {
		throw new CorkboardError("BAD_MODEL", faults.join("; "));
	}
}
