import {
	type FieldNode,
	type GraphQLError,
	getArgumentValues,
	Kind,
} from "graphql";
import { inputError } from "./errors.ts";
import { coercePage } from "./page.ts";
import type { Input, Plan, PlannedField } from "./plan.ts";

/**
 * A plan with the variables of one request. The arguments of each field are
 * coerced once for the request, however many parents the field has, and
 * whichever of price and run asks first.
 */
export interface Bound {
	readonly plan: Plan;
	readonly variables: Readonly<Record<string, unknown>>;
	/** By field number, filled as asked for. */
	readonly inputs: (Input | GraphQLError | undefined)[];
}

/** `variables` as `getVariableValues` of graphql-js gives them. */
export function bind(
	plan: Plan,
	variables: Readonly<Record<string, unknown>>,
): Bound {
	return { plan, variables, inputs: [] };
}

/** The error, if the arguments are wrong, is that of every place the field stands. */
export function inputOf(
	{ inputs, variables }: Bound,
	field: PlannedField,
): Input | GraphQLError {
	if (field.input !== null) return field.input;
	inputs[field.number] ??= readInput(field, variables);
	return inputs[field.number] as Input | GraphQLError;
}

type Asked = Pick<PlannedField, "definition" | "nodes" | "read">;

const NO_ARGUMENTS: Input = { args: {}, page: null };

/** The arguments where they are the same for every request, else null. */
export function constantInput(field: Asked): Input | GraphQLError | null {
	if (field.definition.args.length === 0) return NO_ARGUMENTS;
	return (field.nodes[0] as FieldNode).arguments?.some(({ value }) =>
		mentionsVariable(value),
	)
		? null
		: readInput(field, {});
}

function readInput(
	{ definition, nodes, read }: Asked,
	variables: Readonly<Record<string, unknown>>,
): Input | GraphQLError {
	try {
		const args = getArgumentValues(
			definition,
			nodes[0] as FieldNode,
			variables,
		);
		return {
			args,
			page:
				read.kind === "scan" ? { ...coercePage(args), want: read.want } : null,
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
