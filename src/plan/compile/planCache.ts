import {
	type DocumentNode,
	GraphQLError,
	Kind,
	type OperationDefinitionNode,
} from "graphql";
import { BoundedMap } from "../../util/boundedMap.ts";
import { type BoundPlan, bindVariables } from "../boundPlan.ts";
import type { PlanCacheLevel, SchemaUses } from "../diagnostics.ts";
import { inputError, requestError } from "../errors.ts";
import type { Plan } from "../plan.ts";
import {
	coerceVariableValues,
	prepareVariables,
	type VariableDefinition,
} from "./coerceVariableValues.ts";
import {
	conditionVariables,
	type Fragments,
	getFragments,
} from "./collectFields.ts";
import { type CompileContext, compilePlan } from "./compilePlan.ts";
import { schemaUses } from "./schemaUses.ts";

export interface Operation {
	readonly document: DocumentNode;
	readonly operationName?: string | null | undefined;
	/** As the client sent them. */
	readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

/** What is known of an operation without its variables. */
interface PreparedOperation {
	/** Identifies the operation in the cache's keys. */
	readonly number: number;
	readonly operation: OperationDefinitionNode;
	readonly fragments: Fragments;
	/** The variables in `@skip` and `@include`. Each set of their values has its own plan. */
	readonly conditions: readonly string[];
	/** Set when they are first needed. */
	variables: readonly VariableDefinition[] | null;
	/** Set when it is first asked for. */
	uses: SchemaUses | null;
	/** What is known of its last plan; null before the first. The plan itself may be large, and would stay as long as the document. */
	last: { readonly values: string; readonly dependsOnViewer: boolean } | null;
	/** Plans from `PlanCache.prepare`, by the values of the conditions. They are kept as long as the document. */
	readonly preparedPlans: Map<string, Plan>;
}

/** `prepare` compiles at most two to this power plans of one operation. */
const MAX_CONDITIONS = 4;

/**
 * An LRU cache of compiled plans. It identifies a document by its object: the
 * document cache in front returns the same object for the same text, once it
 * keeps it. So the first plan of an operation is not kept: it would keep a
 * document in memory that may never come again.
 */
export class PlanCache {
	readonly #context: CompileContext;
	readonly #documents = new WeakMap<
		DocumentNode,
		Map<string | null, PreparedOperation>
	>();
	readonly #plans: BoundedMap<Plan>;
	#prepared = 0;
	#hits = 0;
	#misses = 0;
	#compileMs = 0;

	constructor(
		context: CompileContext,
		{ maxPlans }: { readonly maxPlans: number },
	) {
		this.#context = context;
		this.#plans = new BoundedMap({ maxWeight: maxPlans, weigh: () => 1 });
	}

	/**
	 * Compiles all operations of a document in advance, for all values of their
	 * conditions if those are few. The plans do not count toward the size of the
	 * cache, and are freed with the document.
	 */
	prepare(document: DocumentNode): void {
		for (const definition of document.definitions) {
			if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
			const operationName = definition.name?.value ?? null;
			const operation = this.#prepareOperation({ document, operationName });
			if (operation instanceof GraphQLError) continue;
			const { conditions, preparedPlans } = operation;
			if (conditions.length > MAX_CONDITIONS) continue;
			for (let bits = 0; bits < 2 ** conditions.length; bits++) {
				const variables = Object.fromEntries(
					conditions.map((name, bit) => [name, (bits & (1 << bit)) !== 0]),
				);
				preparedPlans.set(
					conditionKey(conditions, variables),
					this.#compile(document, operation, variables),
				);
			}
		}
	}

	level(): PlanCacheLevel {
		return {
			plans: this.#plans.size,
			hits: this.#hits,
			misses: this.#misses,
			compileMs: this.#compileMs,
		};
	}

	/** What the operation uses of the schema, found out once; null for an operation that the document does not have. */
	usesOf(request: Operation): SchemaUses | null {
		const operation = this.#prepareOperation(request);
		if (operation instanceof GraphQLError) return null;
		operation.uses ??= schemaUses(
			this.#context.schema,
			operation.operation,
			operation.fragments,
		);
		return operation.uses;
	}

	/** Whether any resolver's result depends on the viewer. Of an operation that has just run this compiles nothing. */
	dependsOnViewer(request: Operation): boolean {
		const operation = this.#prepareOperation(request);
		if (operation instanceof GraphQLError) return true;
		const { conditions, last } = operation;
		if (last?.values === conditionKey(conditions, request.variables ?? {})) {
			return last.dependsOnViewer;
		}
		const bound = this.bind(request);
		return !("plan" in bound) || bound.plan.dependsOnViewer;
	}

	/** The operation's plan with its variables, or the request errors. */
	bind(request: Operation): BoundPlan | readonly GraphQLError[] {
		const operation = this.#prepareOperation(request);
		if (operation instanceof GraphQLError) return [operation];
		try {
			operation.variables ??= prepareVariables(
				this.#context.schema,
				operation.operation.variableDefinitions ?? [],
			);
			const variables = coerceVariableValues(
				operation.variables,
				request.variables ?? {},
			);
			if (isErrors(variables)) return variables;
			const plan = this.#getPlan(request.document, operation, variables);
			return bindVariables(plan, variables);
		} catch (thrown) {
			return [
				thrown instanceof GraphQLError
					? inputError(thrown)
					: requestError(thrown),
			];
		}
	}

	#prepareOperation({
		document,
		operationName = null,
	}: Operation): PreparedOperation | GraphQLError {
		let operations = this.#documents.get(document);
		if (operations === undefined) {
			operations = new Map();
			this.#documents.set(document, operations);
		}
		const known = operations.get(operationName);
		if (known !== undefined) return known;
		const operation = getOperation(document, operationName);
		// Not cached: a client can send any number of unknown names.
		if (operation instanceof GraphQLError) return operation;
		const fragments = getFragments(document);
		const preparedOperation: PreparedOperation = {
			number: this.#prepared++,
			operation,
			fragments,
			conditions: conditionVariables(operation.selectionSet, fragments),
			variables: null,
			uses: null,
			last: null,
			preparedPlans: new Map(),
		};
		operations.set(operationName, preparedOperation);
		return preparedOperation;
	}

	#getPlan(
		document: DocumentNode,
		operation: PreparedOperation,
		variables: Readonly<Record<string, unknown>>,
	): Plan {
		const { number, conditions, preparedPlans, last } = operation;
		const values = conditionKey(conditions, variables);
		let plan =
			preparedPlans.get(values) ?? this.#plans.get(`${number}${values}`);
		if (plan !== undefined) {
			this.#hits++;
		} else {
			this.#misses++;
			plan = this.#compile(document, operation, variables);
			if (last !== null) this.#plans.set(`${number}${values}`, plan);
		}
		if (last?.values !== values) {
			operation.last = { values, dependsOnViewer: plan.dependsOnViewer };
		}
		return plan;
	}

	#compile(
		document: DocumentNode,
		{ operation, fragments }: PreparedOperation,
		variables: Readonly<Record<string, unknown>>,
	): Plan {
		const began = performance.now();
		try {
			return compilePlan(
				this.#context,
				document,
				operation,
				fragments,
				variables,
			);
		} finally {
			this.#compileMs += performance.now() - began;
		}
	}
}

function conditionKey(
	conditions: readonly string[],
	variables: Readonly<Record<string, unknown>>,
): string {
	let key = "";
	for (const name of conditions) key += ` ${String(variables[name])}`;
	return key;
}

function isErrors(
	variables: Readonly<Record<string, unknown>> | readonly GraphQLError[],
): variables is readonly GraphQLError[] {
	return Array.isArray(variables);
}

/** GetOperation (spec §6.1), with the error messages of graphql-js. */
export function getOperation(
	document: DocumentNode,
	name: string | null,
): OperationDefinitionNode | GraphQLError {
	const operations = document.definitions.filter(
		(definition) => definition.kind === Kind.OPERATION_DEFINITION,
	);
	if (name === null && operations.length > 1) {
		return inputError(
			new GraphQLError(
				"Must provide operation name if query contains multiple operations.",
			),
		);
	}
	const operation =
		name === null
			? operations[0]
			: operations.findLast((operation) => operation.name?.value === name);
	return (
		operation ??
		inputError(
			new GraphQLError(
				name === null
					? "Must provide an operation."
					: `Unknown operation named "${name}".`,
			),
		)
	);
}
