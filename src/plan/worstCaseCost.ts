import {
	type DocumentNode,
	type FieldNode,
	GraphQLError,
	type GraphQLInputType,
	isEnumType,
	isInputObjectType,
	isListType,
	isNonNullType,
	Kind,
	type OperationDefinitionNode,
	typeFromAST,
	visit,
} from "graphql";
import { argumentsOf, bindVariables } from "./boundPlan.ts";
import { getFragments } from "./collectFields.ts";
import { type CompileContext, compilePlan } from "./compilePlan.ts";
import { type Cost, costOf, type VisibilityDependencies } from "./cost.ts";
import { inputError, requestError } from "./errors.ts";
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from "./pageArguments.ts";
import {
	type CoercedArguments,
	namedShape,
	type Plan,
	type PlannedField,
} from "./plan.ts";

/** An operation looked at without its variables. */
export interface WorstCaseCost {
	readonly kind: "query" | "mutation" | "subscription";
	/** Null for one without a name. */
	readonly name: string | null;
	/**
	 * With the variables at their worst: a page size that a variable gives is the
	 * largest there is, a list has as many items, and everything that `@skip` or
	 * `@include` may leave out by a variable is there. No request costs more.
	 */
	readonly cost: Cost;
	/** The plan of the same; null if there is none. */
	readonly plan: Plan | null;
	/** Arguments that are wrong whatever the variables, or why there is no plan. */
	readonly errors: readonly GraphQLError[];
}

export function analyzeWorstCaseCost(
	compiling: CompileContext,
	guards: VisibilityDependencies,
	document: DocumentNode,
): readonly WorstCaseCost[] {
	const whole = withoutConditions(document);
	const fragments = getFragments(whole);
	return whole.definitions.flatMap((definition): readonly WorstCaseCost[] => {
		if (definition.kind !== Kind.OPERATION_DEFINITION) return [];
		const variables = worstVariables(compiling, definition);
		const name = definition.name?.value ?? null;
		try {
			const plan = compilePlan(
				compiling,
				whole,
				definition,
				fragments,
				variables,
			);
			const bound = bindVariables(plan, variables);
			const faults: GraphQLError[] = [];
			for (const field of fieldsOf(plan)) {
				if (field.constantArguments === null) {
					bound.argumentValues[field.number] = worstInput(
						field,
						argumentsOf(bound, field),
					);
				} else if (field.constantArguments instanceof GraphQLError) {
					faults.push(field.constantArguments);
				}
			}
			const cost = costOf(bound, guards);
			return [{ kind: definition.operation, name, cost, plan, errors: faults }];
		} catch (thrown) {
			const fault =
				thrown instanceof GraphQLError
					? inputError(thrown)
					: requestError(thrown, { nodes: [definition] });
			const kind = definition.operation;
			return [{ kind, name, cost: NO_COST, plan: null, errors: [fault] }];
		}
	});
}

const NO_COST: Cost = { total: 0, steps: new Map(), fields: [] };

/** Conditions that a variable decides are left out; what they stand at stays. */
function withoutConditions(document: DocumentNode): DocumentNode {
	return visit(document, {
		Directive({ name, arguments: given = [] }) {
			const isCondition = ["skip", "include"].includes(name.value);
			return isCondition &&
				given.some(({ value }) => value.kind === Kind.VARIABLE)
				? null
				: undefined;
		},
	});
}

function* fieldsOf(plan: Plan): Generator<PlannedField> {
	const waiting = [plan.root];
	for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
		for (const field of at.fields) {
			yield field;
			const shape = namedShape(field.shape);
			if (shape.kind === "object") waiting.push(...shape.selections.values());
		}
	}
}

/** A page as large as its arguments can make it; other arguments as the worst variables make them. */
function worstInput(
	{ access: read, nodes }: PlannedField,
	otherwise: CoercedArguments | GraphQLError,
): CoercedArguments | GraphQLError {
	if (read.kind !== "scan") return otherwise;
	const sizes = ((nodes[0] as FieldNode).arguments ?? []).flatMap(
		({ name, value }) => {
			if (name.value !== "first" && name.value !== "last") return [];
			if (value.kind === Kind.VARIABLE) return [MAX_PAGE_SIZE];
			return value.kind === Kind.INT ? [Number(value.value)] : [];
		},
	);
	const first = sizes.length === 0 ? DEFAULT_PAGE_SIZE : Math.max(...sizes);
	return { args: {}, page: { first, want: read.parts } };
}

function worstVariables(
	{ schema }: CompileContext,
	{ variableDefinitions = [] }: OperationDefinitionNode,
): Readonly<Record<string, unknown>> {
	return Object.fromEntries(
		variableDefinitions.map(({ variable, type }) => [
			variable.name.value,
			worstValue(typeFromAST(schema, type) as GraphQLInputType, 0),
		]),
	);
}

/** Deeper than any input of ours; one that held itself would have no end. */
const MAX_DEPTH = 8;

function worstValue(type: GraphQLInputType, depth: number): unknown {
	if (depth > MAX_DEPTH) return null;
	if (isNonNullType(type)) return worstValue(type.ofType, depth);
	if (isListType(type)) {
		return Array(MAX_PAGE_SIZE).fill(worstValue(type.ofType, depth + 1));
	}
	if (isInputObjectType(type)) {
		return Object.fromEntries(
			Object.values(type.getFields()).map((field) => [
				field.name,
				worstValue(field.type, depth + 1),
			]),
		);
	}
	if (isEnumType(type)) return type.getValues()[0]?.value;
	if (type.name === "Boolean") return true;
	return type.name === "Int" || type.name === "Float" ? MAX_PAGE_SIZE : "1";
}
