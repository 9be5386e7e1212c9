import {
	type DocumentNode,
	GraphQLError,
	Kind,
	type OperationDefinitionNode,
} from "graphql";
import { type BoundPlan, bindVariables } from "./boundPlan.ts";
import { coerceVariableValues } from "./coerceVariableValues.ts";
import {
	conditionVariables,
	type Fragments,
	getFragments,
} from "./collectFields.ts";
import { type CompileContext, compilePlan } from "./compilePlan.ts";
import { inputError, requestError } from "./errors.ts";
import type { Plan } from "./plan.ts";

export interface Operation {
	readonly document: DocumentNode;
	readonly operationName?: string | null | undefined;
	/** As the client sent them. */
	readonly variables?: Readonly<Record<string, unknown>> | null | undefined;
}

/** What is known of an operation before any variable is. */
interface Prepared {
	/** Tells it from others in the keys of plans. */
	readonly number: number;
	readonly operation: OperationDefinitionNode;
	readonly fragments: Fragments;
	/** The variables that its `@skip` and `@include` name. */
	readonly conditions: readonly string[];
	/** Plans made by `prepare`, by the conditions' values: kept as long as the document. */
	readonly made: Map<string, Plan>;
}

export interface PlanCache {
	/** The operation's plan with its variables, or why there is none. */
	bind(operation: Operation): BoundPlan | readonly GraphQLError[];
	/**
	 * Compile all operations of a document before they are asked for, for every
	 * set of values of their conditions where those are few. Other plans do not
	 * make way for these; they go with the document.
	 */
	prepare(document: DocumentNode): void;
}

/** Two to this power are the plans that `prepare` makes of one operation at most. */
const MAX_CONDITIONS = 4;

/**
 * Compiled plans, at most `maxPlans`, the one not used for longest going first.
 * A document is known by its object: the document cache in front gives the same
 * one for the same text, and then nothing of it is looked at again.
 */
export function createPlanCache(
	compiling: CompileContext,
	options: { readonly maxPlans: number },
): PlanCache {
	const documents = new WeakMap<
		DocumentNode,
		Map<string | null, Prepared | GraphQLError>
	>();
	const plans = new Map<string, Plan>();
	let prepared = 0;

	function prepare({
		document,
		operationName = null,
	}: Operation): Prepared | GraphQLError {
		let operations = documents.get(document);
		if (operations === undefined) {
			operations = new Map();
			documents.set(document, operations);
		}
		const known = operations.get(operationName);
		if (known !== undefined) return known;
		const operation = operationOf(document, operationName);
		// Names that are not there are the client's to make up: not remembered.
		if (operation instanceof GraphQLError) return operation;
		const fragments = getFragments(document);
		const made = {
			number: prepared++,
			operation,
			fragments,
			conditions: conditionVariables(operation.selectionSet, fragments),
			made: new Map<string, Plan>(),
		};
		operations.set(operationName, made);
		return made;
	}

	function planOf(
		document: DocumentNode,
		{ number, operation, fragments, conditions, made }: Prepared,
		variables: Readonly<Record<string, unknown>>,
	): Plan {
		let values = "";
		for (const name of conditions) values += ` ${String(variables[name])}`;
		const early = made.get(values);
		if (early !== undefined) return early;
		const key = `${number}${values}`;
		let plan = plans.get(key);
		if (plan === undefined) {
			plan = compilePlan(compiling, document, operation, fragments, variables);
		} else {
			plans.delete(key);
		}
		plans.set(key, plan);
		if (plans.size > options.maxPlans) {
			plans.delete(plans.keys().next().value as string);
		}
		return plan;
	}

	return {
		prepare(document) {
			for (const definition of document.definitions) {
				if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
				const operationName = definition.name?.value ?? null;
				const found = prepare({ document, operationName });
				if (found instanceof GraphQLError) continue;
				const { operation, fragments, conditions, made } = found;
				if (conditions.length > MAX_CONDITIONS) continue;
				for (let set = 0; set < 2 ** conditions.length; set++) {
					const variables = Object.fromEntries(
						conditions.map((name, bit) => [name, (set & (1 << bit)) !== 0]),
					);
					const values = conditions.map((name) => ` ${variables[name]}`);
					made.set(
						values.join(""),
						compilePlan(compiling, document, operation, fragments, variables),
					);
				}
			}
		},

		bind(request) {
			const found = prepare(request);
			if (found instanceof GraphQLError) return [found];
			try {
				const variables = coerceVariableValues(
					compiling.schema,
					found.operation.variableDefinitions ?? [],
					request.variables ?? {},
				);
				if (isErrors(variables)) return variables;
				return bindVariables(
					planOf(request.document, found, variables),
					variables,
				);
			} catch (thrown) {
				return [
					thrown instanceof GraphQLError
						? inputError(thrown)
						: requestError(thrown),
				];
			}
		},
	};
}

function isErrors(
	variables: Readonly<Record<string, unknown>> | readonly GraphQLError[],
): variables is readonly GraphQLError[] {
	return Array.isArray(variables);
}

/** Which operation of a document is meant (GetOperation, spec §6.1), or the words of graphql-js for which there is none. */
function operationOf(
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
	const found =
		name === null
			? operations[0]
			: operations.findLast((operation) => operation.name?.value === name);
	return (
		found ??
		inputError(
			new GraphQLError(
				name === null
					? "Must provide an operation."
					: `Unknown operation named "${name}".`,
			),
		)
	);
}
