import type { DocumentNode, GraphQLError, GraphQLSchema } from "graphql";
import { CorkboardError, type FieldProblem } from "../errors.ts";
import type { Visibility } from "../graph/domain.ts";
import type { Graph } from "../graph/types.ts";
import type { Model } from "../model/types.ts";
import type { FieldPolicies } from "../model/validation.ts";
import type { OperationDeadline } from "../util/deadline.ts";
import { isPromise, type MaybePromise } from "../util/maybePromise.ts";
import { type Answer, type OperationResponse, parseAnswer } from "./answer.ts";
import type { Resolvers } from "./batchResolver.ts";
import type { BoundPlan } from "./boundPlan.ts";
import {
	type Cost,
	costLimitError,
	createCostMemo,
	type LookCosts,
} from "./compile/cost.ts";
import { inputProblems } from "./compile/inputProblems.ts";
import { type Operation, PlanCache } from "./compile/planCache.ts";
import {
	analyzeWorstCaseCost,
	type WorstCaseCost,
} from "./compile/worstCaseCost.ts";
import {
	PLAN_CHANNELS,
	type PlanCacheLevel,
	publishRefusal,
	type RequestRecord,
	type SchemaUses,
} from "./diagnostics.ts";
import { requestError } from "./errors.ts";
import { executePlan } from "./execute/executePlan.ts";
import { ExplainRecorder } from "./explain/explainRecorder.ts";
import type { ExplainOptions } from "./explain/explainRuns.ts";

interface PlannerOptions<Context> {
	/** The schema clients see. Its scalars can serialize. */
	readonly schema: GraphQLSchema;
	readonly model: Model;
	readonly resolvers: Resolvers<Context>;
	/** The most edges and objects that one operation may read. */
	readonly maxCost: number;
	/** Size of the cache of compiled plans. */
	readonly maxPlans: number;
	/** What stored fields may hold; absent: whatever fits their types. */
	readonly fields?: FieldPolicies;
	/** Which objects are read to decide whether another is visible, and which lists depend on the viewer. */
	readonly visibility: Pick<Visibility, "dependenciesOf" | "isPrivateList">;
	/** What is read before pages of some lists; absent: nothing. */
	readonly lookCosts?: LookCosts;
}

/** A validated operation. Each request has its own context, which holds its view of the graph. */
interface OperationRequest<Context> extends Operation {
	readonly context: Context & { readonly graph: Graph };
	readonly deadline?: OperationDeadline;
	/** Called with a cost within the limit, before anything is read. Returns an error to reject the operation. */
	readonly admit?: (cost: number) => MaybePromise<GraphQLError | null>;
	/** If set, the response has `extensions.explain`. */
	readonly explain?: ExplainOptions;
	/** What is recorded of the request; it then knows what the operation did. */
	readonly record?: RequestRecord | null;
}

export interface Planner<Context> {
	/**
	 * The answer as text, without a promise if nothing has to be waited for.
	 * Never throws or rejects. An operation over the cost limit is not executed;
	 * with `explain`, its answer still has the steps and their costs.
	 */
	answer(request: OperationRequest<Context>): MaybePromise<Answer>;
	/** The same, parsed. */
	execute(request: OperationRequest<Context>): Promise<OperationResponse>;
	/** Reads nothing. */
	cost(operation: Operation): Cost | readonly GraphQLError[];
	/** The cost of each operation of a document, whatever its variables. */
	analyzeWorstCaseCost(document: DocumentNode): readonly WorstCaseCost[];
	/** All that is wrong with the input of a mutation, of which something does not fit its type. The document need not be valid. */
	inputProblems(operation: Operation): readonly FieldProblem[];
	/** Compiles a document's operations and keeps their plans as long as the document. */
	prepare(document: DocumentNode): void;
	/** What an operation uses of the schema: the same object each time. Null for an operation that the document does not have. */
	usesOf(
		operation: Pick<Operation, "document" | "operationName">,
	): SchemaUses | null;
	/** Whether any resolver's result in this operation depends on the viewer. */
	dependsOnViewer(operation: Operation): boolean;
	/** How full the cache of plans is. */
	level(): PlanCacheLevel;
}

export function createPlanner<Context extends object>(
	options: PlannerOptions<Context>,
): Planner<Context> {
	const { schema, maxCost, visibility } = options;
	checkResolvers(options);
	const costOf = createCostMemo(visibility.dependenciesOf, options.lookCosts);
	const plans = new PlanCache(options, { maxPlans: options.maxPlans });

	function answer(request: OperationRequest<Context>): MaybePromise<Answer> {
		const { context, deadline, admit, explain, record = null } = request;
		try {
			const bound = plans.bind(request);
			if (isErrors(bound)) {
				addFields(bound, inputProblems(options, request));
				return { data: null, errors: bound };
			}
			const cost = costOf(bound);
			const countsRetries =
				bound.plan.serial && PLAN_CHANNELS.mutationRetry.hasSubscribers;
			const recorder =
				explain || record || countsRetries
					? new ExplainRecorder(bound, {
							hostOf: explain?.hostOf,
							cost,
							limit: maxCost,
							isBrief: explain === undefined,
							span: record?.span ?? null,
						})
					: null;
			// An object, not a closure: closures over this scope made every request
			// survive several collections, for a third of its CPU.
			if (record) record.operation = recorder;
			const run = (): MaybePromise<Answer> =>
				executePlan(bound, {
					schema,
					context,
					...(deadline ? { deadline } : {}),
					...(recorder ? { tracer: recorder } : {}),
				});
			const tooExpensive = costLimitError(cost, maxCost);
			if (tooExpensive !== null) publishRefusal("cost");
			const answered = runIfAdmitted(
				tooExpensive ?? admit?.(cost.total) ?? null,
				run,
			);
			if (recorder === null || explain === undefined) return answered;
			const explained = (answer: Answer): Answer => ({
				...answer,
				extensions: { explain: recorder.output() },
			});
			return isPromise(answered)
				? answered.then(explained)
				: explained(answered);
		} catch (bug) {
			return failed(bug);
		}
	}

	return {
		answer,

		async execute(request) {
			return parseAnswer(await answer(request));
		},

		cost(operation) {
			const bound = plans.bind(operation);
			return isErrors(bound) ? bound : costOf(bound);
		},

		analyzeWorstCaseCost: (document) =>
			analyzeWorstCaseCost(
				options,
				visibility.dependenciesOf,
				options.lookCosts,
				document,
			),

		inputProblems: (operation) => inputProblems(options, operation),
		prepare: (document) => plans.prepare(document),
		usesOf: (operation) => plans.usesOf(operation),
		dependsOnViewer: (operation) => plans.dependsOnViewer(operation),
		level: () => plans.level(),
	};
}

/** On the first error, where clients look. */
function addFields(
	[first]: readonly GraphQLError[],
	fields: readonly FieldProblem[],
): void {
	if (first !== undefined && fields.length > 0)
		first.extensions.fields = fields;
}

/** Neither throws nor rejects. */
function runIfAdmitted(
	rejection: MaybePromise<GraphQLError | null>,
	run: () => MaybePromise<Answer>,
): MaybePromise<Answer> {
	try {
		if (isPromise(rejection)) {
			return rejection.then((error) => runIfAdmitted(error, run)).catch(failed);
		}
		if (rejection !== null) return { data: null, errors: [rejection] };
		const answered = run();
		return isPromise(answered) ? answered.catch(failed) : answered;
	} catch (thrown) {
		return failed(thrown);
	}
}

function failed(thrown: unknown): Answer {
	return { data: null, errors: [requestError(thrown)] };
}

function isErrors(
	bound: BoundPlan | readonly GraphQLError[],
): bound is readonly GraphQLError[] {
	return Array.isArray(bound);
}

/** Throws BAD_MODEL for a field without a resolver that needs one, or with one that needs none. */
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
	const problems = [
		...[...expected]
			.filter((field) => !resolvers.has(field))
			.map((field) => `${field} has no resolver`),
		...[...resolvers.keys()]
			.filter((field) => !expected.has(field))
			.map((field) => `${field} has a resolver but needs none`),
	];
	if (problems.length > 0) {
		throw new CorkboardError("BAD_MODEL", problems.join("; "));
	}
}
