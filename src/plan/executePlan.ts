import { GraphQLError, type GraphQLSchema } from "graphql";
import { asCorkboardError } from "../errors.ts";
import type { Graph, Node } from "../graph/types.ts";
import { argumentsOf, type BoundPlan } from "./boundPlan.ts";
import {
	type CompletionContext,
	completeLeafValue,
	completeValue,
	type NextLevel,
	newLevel,
} from "./completeValue.ts";
import { executeIntrospection } from "./introspection.ts";
import {
	namedShape,
	type ObjectShape,
	type PlannedField,
	type Selection,
	type Step,
} from "./plan.ts";
import {
	addError,
	checkResponseSize,
	newResponse,
	type ResponseState,
	responseErrors,
} from "./responseState.ts";
import {
	propagateNull,
	type ResultNode,
	raiseFieldError,
} from "./resultNode.ts";
import { StepRunner, type Tracer } from "./stepRunner.ts";

export interface ExecuteOptions<Context> {
	readonly schema: GraphQLSchema;
	/** Passed to resolvers. It holds the graph that the plan reads. */
	readonly context: Context & { readonly graph: Graph };
	/** The deadline: steps still pending when it aborts become UNAVAILABLE, and the response is sent without them. */
	readonly signal?: AbortSignal;
	/** For explain. */
	readonly tracer?: Tracer;
}

export interface ExecutedPlan {
	/** JSON; `null` if a null propagated to the root. */
	readonly data: string;
	readonly errors: readonly GraphQLError[];
}

/** One execution in progress. */
interface Execution {
	readonly bound: BoundPlan;
	readonly options: ExecuteOptions<object>;
	readonly response: ResponseState;
	readonly steps: StepRunner;
}

/**
 * Executes a plan breadth-first. A step is one call and one promise for all
 * parents of a level. Steps of one level start in one tick, so that the graph
 * can merge their reads. All other fields read their value synchronously.
 */
export async function executePlan(
	bound: BoundPlan,
	options: ExecuteOptions<object>,
): Promise<ExecutedPlan> {
	const { root, serial } = bound.plan;
	if (root.error !== null) {
		return { errors: [root.error], data: "null" };
	}
	const data = { ...root.template };
	const rootNode: ResultNode = {
		parent: null,
		key: "",
		nullable: true,
		data,
		source: null,
		isNulled: false,
	};
	const response = newResponse(serial);
	using steps = new StepRunner(options);
	const execution: Execution = { bound, options, response, steps };
	if (serial) {
		for (const field of root.fields) {
			if (rootNode.isNulled) break;
			executeField(execution, field, [rootNode]);
			await steps.untilIdle();
		}
	} else {
		executeSelectionSet(execution, root, [rootNode]);
		await steps.untilIdle();
	}
	checkResponseSize(response);
	return {
		data: rootNode.isNulled ? "null" : JSON.stringify(data),
		errors: responseErrors(response),
	};
}

/** ExecuteSelectionSet (spec §6.3) for all objects of a level that have the selection. */
function executeSelectionSet(
	execution: Execution,
	{ fields }: Selection,
	nodes: readonly ResultNode[],
): void {
	for (const field of fields) executeField(execution, field, nodes);
}

/** ExecuteField (spec §6.4) for all parents of a level. */
function executeField(
	execution: Execution,
	field: PlannedField,
	parents: readonly ResultNode[],
): void {
	const { bound, options, response, steps } = execution;
	const { shape, access, key } = field;
	const values = argumentsOf(bound, field);
	if (values instanceof GraphQLError) {
		raiseForAll(execution, field, parents, values);
		return;
	}
	const context = { field, response, next: newLevel() };
	switch (access.kind) {
		case "value":
			if (shape.kind === "leaf") {
				for (const parent of parents) {
					const value = readValue(access.of, parent);
					completeLeafValue(context, shape, value, parent, key);
				}
				checkResponseSize(response);
				return;
			}
			for (const parent of parents) {
				const value = readValue(access.of, parent);
				completeValue(context, shape, value, parent, key);
			}
			executeNextLevel(execution, context);
			return;
		case "scan": {
			const { mapping, globalListId, step } = access;
			const { page } = values;
			if (page === null) throw new TypeError("a scan has no page arguments");
			const owners = parents.map(
				({ source }) => globalListId ?? (source as Node).id,
			);
			steps.run(step, owners, {
				start: (call) =>
					options.context.graph.readPages(mapping, owners, page, call),
				accept: (pages) => completeAll(execution, context, parents, pages),
				reject: (error) => raiseForAll(execution, field, parents, error),
			});
			return;
		}
		case "call": {
			const { resolver, step } = access;
			const sources = parents.map(({ source }) => source as Node | null);
			steps.run(step, sources, {
				start: (call) =>
					resolver.resolve({
						parents: sources,
						args: values.args,
						context: options.context,
						call,
					}),
				accept: (results) => completeAll(execution, context, parents, results),
				reject: (error) => raiseForAll(execution, field, parents, error),
			});
			return;
		}
		case "introspection":
			for (const parent of parents) {
				const { value, errors } = executeIntrospection(
					options.schema,
					access.document,
					bound.variables,
					key,
				);
				for (const error of errors) addError(response, () => error);
				parent.data[key] = value;
				if (value === null && !shape.nullable) propagateNull(parent);
			}
	}
}

function completeAll(
	execution: Execution,
	context: CompletionContext,
	parents: readonly ResultNode[],
	values: readonly unknown[],
): void {
	const { shape, key } = context.field;
	for (let index = 0; index < parents.length; index++) {
		const parent = parents[index] as ResultNode;
		completeValue(context, shape, values[index], parent, key);
	}
	executeNextLevel(execution, context);
}

function raiseForAll(
	{ response }: Execution,
	field: PlannedField,
	parents: readonly ResultNode[],
	error: unknown,
): void {
	const { key, shape } = field;
	for (const parent of parents) {
		raiseFieldError(response, field, parent, key, shape.nullable, error);
	}
}

/** Fetches the objects that a completed field named, and executes the selections of its result objects. */
function executeNextLevel(
	execution: Execution,
	{ field, next }: CompletionContext,
): void {
	checkResponseSize(execution.response);
	if (next.ids.length > 0) fetchObjects(execution, field, next);
	for (const [index, selection] of next.selections.entries()) {
		executeSelectionSet(
			execution,
			selection,
			next.nodes[index] as ResultNode[],
		);
	}
}

function fetchObjects(
	execution: Execution,
	field: PlannedField,
	{ ids, parents, keys }: NextLevel,
): void {
	const { options, response, steps } = execution;
	const shape = namedShape(field.shape) as ObjectShape;
	steps.run(shape.fetch as Step, ids, {
		start: (call) => options.context.graph.readObjects(ids, call),
		accept: (objects) => {
			const context = { field, response, next: newLevel() };
			for (let index = 0; index < parents.length; index++) {
				const parent = parents[index] as ResultNode;
				const key = keys[index] as string | number;
				// Never an id, so no object is fetched twice.
				completeValue(context, shape, objects[index], parent, key);
			}
			executeNextLevel(execution, context);
		},
		reject: (error) => {
			for (const [index, parent] of parents.entries()) {
				const key = keys[index] as string | number;
				raiseFieldError(response, field, parent, key, shape.nullable, error);
			}
		},
	});
}

function readValue(
	of: (source: unknown) => unknown,
	{ source }: ResultNode,
): unknown {
	try {
		return of(source);
	} catch (thrown) {
		return asCorkboardError(thrown);
	}
}
