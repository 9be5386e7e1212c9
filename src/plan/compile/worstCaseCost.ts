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
import { argumentsOf, type BoundPlan, bindVariables } from "../boundPlan.ts";
import { inputError, requestError } from "../errors.ts";
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from "../pageArguments.ts";
import {
	type CoercedArguments,
	namedShape,
	type Plan,
	type PlannedField,
} from "../plan.ts";
import { getFragments } from "./collectFields.ts";
import { type CompileContext, compilePlan } from "./compilePlan.ts";
import {
	type Cost,
	costOf,
	type LookCosts,
	type VisibilityDependencies,
} from "./cost.ts";

/** The cost of an operation whose variables are not known. */
export interface WorstCaseCost {
	readonly kind: "query" | "mutation" | "subscription";
	/** Null for an anonymous operation. */
	readonly name: string | null;
	/**
	 * An upper bound for any variables: a variable page size counts as the
	 * largest, a list as long as the largest page, and nothing is left out by a
	 * variable in `@skip` or `@include`.
	 */
	readonly cost: Cost;
	/** Null if the operation cannot be compiled. */
	readonly plan: Plan | null;
	/** Errors that no variables avoid. */
	readonly errors: readonly GraphQLError[];
}

export function analyzeWorstCaseCost(
	context: CompileContext,
	visibilityDependencies: VisibilityDependencies,
	lookCosts: LookCosts | undefined,
	document: DocumentNode,
): readonly WorstCaseCost[] {
	const unconditional = withoutConditions(document);
	const fragments = getFragments(unconditional);
	return unconditional.definitions
		.filter((definition) => definition.kind === Kind.OPERATION_DEFINITION)
		.map((operation) => {
			const kind = operation.operation;
			const name = operation.name?.value ?? null;
			try {
				const variables = worstVariables(context, operation);
				const plan = compilePlan(
					context,
					unconditional,
					operation,
					fragments,
					variables,
				);
				const bound = bindVariables(plan, variables);
				const errors = bindWorstArguments(bound);
				const cost = costOf(bound, visibilityDependencies, lookCosts);
				return { kind, name, cost, plan, errors };
			} catch (thrown) {
				const error =
					thrown instanceof GraphQLError
						? inputError(thrown)
						: requestError(thrown, { nodes: [operation] });
				return { kind, name, cost: NO_COST, plan: null, errors: [error] };
			}
		});
}

const NO_COST: Cost = { total: 0, steps: new Map(), fields: [] };

/** Removes `@skip` and `@include` with a variable; the selection stays. */
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

/** Returns the errors of constant arguments. */
function bindWorstArguments(bound: BoundPlan): readonly GraphQLError[] {
	const errors: GraphQLError[] = [];
	for (const field of fieldsOf(bound.plan)) {
		if (field.constantArguments === null) {
			const values = argumentsOf(bound, field);
			bound.argumentValues[field.number] = worstArguments(field, values);
		} else if (field.constantArguments instanceof GraphQLError) {
			errors.push(field.constantArguments);
		}
	}
	return errors;
}

function* fieldsOf(plan: Plan): Generator<PlannedField> {
	const pending = [plan.root];
	for (let next = pending.pop(); next; next = pending.pop()) {
		for (const field of next.fields) {
			yield field;
			const shape = namedShape(field.shape);
			if (shape.kind === "object") pending.push(...shape.selections.values());
		}
	}
}

/** A scan gets the largest page that its arguments allow. Other fields keep their coerced arguments. */
function worstArguments(
	{ access, nodes }: PlannedField,
	coerced: CoercedArguments | GraphQLError,
): CoercedArguments | GraphQLError {
	if (access.kind !== "scan") return coerced;
	const sizes = ((nodes[0] as FieldNode).arguments ?? []).flatMap(
		({ name, value }) => {
			if (name.value !== "first" && name.value !== "last") return [];
			if (value.kind === Kind.VARIABLE) return [MAX_PAGE_SIZE];
			return value.kind === Kind.INT ? [Number(value.value)] : [];
		},
	);
	const first = sizes.length === 0 ? DEFAULT_PAGE_SIZE : Math.max(...sizes);
	return { args: {}, page: { first, fields: access.pageFields } };
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

/** Ends the recursion for an input type that contains itself. */
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
