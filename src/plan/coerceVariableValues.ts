import {
	coerceInputValue,
	GraphQLError,
	type GraphQLSchema,
	isInputType,
	isNonNullType,
	typeFromAST,
	type VariableDefinitionNode,
	valueFromAST,
} from "graphql";
import { quoted } from "../util/quoted.ts";

/** Told about one request's variables: a long list of wrong values does not become a longer answer. */
const MAX_ERRORS = 10;

/**
 * CoerceVariableValues (spec §6.1.2). `getVariableValues` of graphql-js does the
 * same but prints in each error the whole value that holds what is wrong: sixty
 * wrong fields beside a text of a megabyte are sixty megabytes.
 */
export function coerceVariableValues(
	schema: GraphQLSchema,
	definitions: readonly VariableDefinitionNode[],
	given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | readonly GraphQLError[] {
	// `__proto__` is a legal name.
	const coerced: Record<string, unknown> = Object.create(null);
	const errors: GraphQLError[] = [];
	function report(message: string, node: VariableDefinitionNode): void {
		const isLast = errors.length === MAX_ERRORS;
		errors.push(
			isLast
				? wrong("There is more wrong with the variables than this.", node)
				: wrong(message, node),
		);
		if (isLast) throw ENOUGH;
	}
	try {
		for (const node of definitions) {
			const name = node.variable.name.value;
			const type = typeFromAST(schema, node.type);
			if (!isInputType(type)) {
				// Validation sees to it.
				throw new TypeError(`expected $${name} to be of an input type`);
			}
			const value = Object.hasOwn(given, name) ? given[name] : undefined;
			if (value === undefined && node.defaultValue) {
				coerced[name] = valueFromAST(node.defaultValue, type);
			} else if (value === undefined || value === null) {
				if (isNonNullType(type)) {
					report(
						`Variable "$${name}" of ${value === null ? "non-null" : "required"} type "${type}" ${value === null ? "must not be null" : "was not provided"}.`,
						node,
					);
				} else if (value === null) {
					coerced[name] = null;
				}
			} else {
				coerced[name] = coerceInputValue(value, type, (path, part, error) =>
					report(
						`Variable "$${name}" got invalid value ${quoted(part)}${placeOf(name, path)}; ${error.message}`,
						node,
					),
				);
			}
		}
	} catch (thrown) {
		if (thrown !== ENOUGH) throw thrown;
	}
	return errors.length > 0 ? errors : { ...coerced };
}

/** Thrown to leave a value in the middle of it. */
const ENOUGH = new Error("enough errors");

function wrong(message: string, nodes: VariableDefinitionNode): GraphQLError {
	return new GraphQLError(message, {
		nodes,
		extensions: { code: "BAD_USER_INPUT" },
	});
}

function placeOf(name: string, path: readonly (string | number)[]): string {
	if (path.length === 0) return "";
	const steps = path.map((key) =>
		typeof key === "number" ? `[${key}]` : `.${key}`,
	);
	return ` at "${name}${steps.join("")}"`;
}
