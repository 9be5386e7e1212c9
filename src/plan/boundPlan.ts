import {
	type FieldNode,
	type GraphQLError,
	getArgumentValues,
	Kind,
} from "graphql";
import { inputError } from "./errors.ts";
import { coercePageArguments } from "./pageArguments.ts";
import type { CoercedArguments, Plan, PlannedField } from "./plan.ts";

/**
 * A plan with the variables of one request. Cost and execution share the
 * coerced arguments, and a field coerces them once for all its parents.
 */
export interface BoundPlan {
	readonly plan: Plan;
	readonly variables: Readonly<Record<string, unknown>>;
	/** By field number; filled by `argumentsOf`. */
	readonly argumentValues: (CoercedArguments | GraphQLError | undefined)[];
}

/** `variables` are coerced already. */
export function bindVariables(
	plan: Plan,
	variables: Readonly<Record<string, unknown>>,
): BoundPlan {
	return { plan, variables, argumentValues: [] };
}

/** An error is the error of the field on every parent. */
export function argumentsOf(
	{ argumentValues, variables }: BoundPlan,
	field: PlannedField,
): CoercedArguments | GraphQLError {
	if (field.constantArguments !== null) return field.constantArguments;
	const known = argumentValues[field.number];
	if (known !== undefined) return known;
	const coerced = coerceArguments(field, variables);
	argumentValues[field.number] = coerced;
	return coerced;
}

type FieldArguments = Pick<PlannedField, "definition" | "nodes" | "access">;

const NO_ARGUMENTS: CoercedArguments = { args: {}, page: null };

/** Null if the arguments contain a variable. */
export function coerceConstantArguments(
	field: FieldArguments,
): CoercedArguments | GraphQLError | null {
	if (field.definition.args.length === 0) return NO_ARGUMENTS;
	return (field.nodes[0] as FieldNode).arguments?.some(({ value }) =>
		containsVariable(value),
	)
		? null
		: coerceArguments(field, {});
}

/** CoerceArgumentValues (spec §6.4.1), with page arguments for a scan. */
function coerceArguments(
	{ definition, nodes, access }: FieldArguments,
	variables: Readonly<Record<string, unknown>>,
): CoercedArguments | GraphQLError {
	try {
		const args = getArgumentValues(
			definition,
			nodes[0] as FieldNode,
			variables,
		);
		const page =
			access.kind === "scan"
				? { ...coercePageArguments(args), fields: access.pageFields }
				: null;
		return { args, page };
	} catch (thrown) {
		return inputError(thrown);
	}
}

type ValueNode = NonNullable<FieldNode["arguments"]>[number]["value"];

function containsVariable(value: ValueNode): boolean {
	switch (value.kind) {
		case Kind.VARIABLE:
			return true;
		case Kind.LIST:
			return value.values.some(containsVariable);
		case Kind.OBJECT:
			return value.fields.some((field) => containsVariable(field.value));
		default:
			return false;
	}
}
