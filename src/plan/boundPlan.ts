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
 * A plan with the variables of one request. The arguments of each field are
 * coerced once for the request, however many parents the field has, and
 * whichever of cost and run asks first.
 */
export interface BoundPlan {
	readonly plan: Plan;
	readonly variables: Readonly<Record<string, unknown>>;
	/** By field number, filled as asked for. */
	readonly argumentValues: (CoercedArguments | GraphQLError | undefined)[];
}

/** `variables` as `getVariableValues` of graphql-js gives them. */
export function bindVariables(
	plan: Plan,
	variables: Readonly<Record<string, unknown>>,
): BoundPlan {
	return { plan, variables, argumentValues: [] };
}

/** The error, if the arguments are wrong, is that of every place the field stands. */
export function argumentsOf(
	{ argumentValues: inputs, variables }: BoundPlan,
	field: PlannedField,
): CoercedArguments | GraphQLError {
	if (field.constantArguments !== null) return field.constantArguments;
	inputs[field.number] ??= readInput(field, variables);
	return inputs[field.number] as CoercedArguments | GraphQLError;
}

type Asked = Pick<PlannedField, "definition" | "nodes" | "access">;

const NO_ARGUMENTS: CoercedArguments = { args: {}, page: null };

/** The arguments where they are the same for every request, else null. */
export function coerceConstantArguments(
	field: Asked,
): CoercedArguments | GraphQLError | null {
	if (field.definition.args.length === 0) return NO_ARGUMENTS;
	return (field.nodes[0] as FieldNode).arguments?.some(({ value }) =>
		mentionsVariable(value),
	)
		? null
		: readInput(field, {});
}

function readInput(
	{ definition, nodes, access: read }: Asked,
	variables: Readonly<Record<string, unknown>>,
): CoercedArguments | GraphQLError {
	try {
		const args = getArgumentValues(
			definition,
			nodes[0] as FieldNode,
			variables,
		);
		return {
			args,
			page:
				read.kind === "scan"
					? { ...coercePageArguments(args), want: read.parts }
					: null,
		};
	} catch (thrown) {
		return inputError(thrown);
	}
}

type ValueNode = NonNullable<FieldNode["arguments"]>[number]["value"];

function mentionsVariable(value: ValueNode): boolean {
	switch (value.kind) {
		case Kind.VARIABLE:
			return true;
		case Kind.LIST:
			return value.values.some(mentionsVariable);
		case Kind.OBJECT:
			return value.fields.some((field) => mentionsVariable(field.value));
		default:
			return false;
	}
}
