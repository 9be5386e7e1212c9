import {
	type FieldNode,
	type GraphQLError,
	getArgumentValues,
	isNonNullType,
	Kind,
	valueFromAST,
} from "graphql";
import { inputError } from "./errors.ts";
import { coercePageArguments } from "./pageArguments.ts";
import type {
	ArgumentSource,
	CoercedArguments,
	Plan,
	PlannedField,
} from "./plan.ts";

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

type FieldArguments = Pick<PlannedField, "definition" | "nodes" | "access"> &
	Partial<Pick<PlannedField, "argumentSources">>;

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

/** Null if an argument is a value that contains a variable, or has an error. */
export function argumentSources(
	{ args }: FieldArguments["definition"],
	node: FieldNode,
): readonly ArgumentSource[] | null {
	const sources: ArgumentSource[] = [];
	for (const { name, type, defaultValue } of args) {
		const given = node.arguments?.find((one) => one.name.value === name)?.value;
		if (given?.kind === Kind.VARIABLE) {
			const nullable = !isNonNullType(type);
			sources.push({ name, variable: given.name.value, nullable });
		} else if (given !== undefined) {
			const value = containsVariable(given)
				? undefined
				: valueFromAST(given, type);
			if (value === undefined) return null;
			sources.push({ name, value });
		} else if (defaultValue !== undefined) {
			sources.push({ name, value: defaultValue });
		} else if (isNonNullType(type)) {
			return null;
		}
	}
	return sources;
}

/** CoerceArgumentValues (spec §6.4.1), with page arguments for a scan. */
function coerceArguments(
	field: FieldArguments,
	variables: Readonly<Record<string, unknown>>,
): CoercedArguments | GraphQLError {
	const { definition, nodes, access } = field;
	try {
		const args =
			argumentsFrom(field.argumentSources ?? null, variables) ??
			getArgumentValues(definition, nodes[0] as FieldNode, variables);
		const page =
			access.kind === "scan"
				? { ...coercePageArguments(args), fields: access.pageFields }
				: null;
		return { args, page };
	} catch (thrown) {
		return inputError(thrown);
	}
}

/** Null if they need defaults or have errors: graphql-js knows those. */
function argumentsFrom(
	sources: readonly ArgumentSource[] | null,
	variables: Readonly<Record<string, unknown>>,
): Record<string, unknown> | null {
	if (sources === null) return null;
	const args: Record<string, unknown> = {};
	for (const source of sources) {
		if ("value" in source) {
			args[source.name] = source.value;
			continue;
		}
		const value = variables[source.variable];
		if (value === undefined || (value === null && !source.nullable))
			return null;
		args[source.name] = value;
	}
	return args;
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
