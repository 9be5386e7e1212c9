import {
	coerceInputValue,
	GraphQLError,
	type GraphQLInputType,
	type GraphQLSchema,
	isInputType,
	isNonNullType,
	typeFromAST,
	type VariableDefinitionNode,
	valueFromAST,
} from "graphql";
import { quoted } from "../../util/quoted.ts";
import { hasFormat, type ScalarFormat, scalarFormat } from "../scalarFormat.ts";

/** Errors of one request. A long list of wrong values must not become a longer response. */
const MAX_ERRORS = 10;

/** A variable of an operation, as far as it is known without its value. */
export interface VariableDefinition {
	readonly node: VariableDefinitionNode;
	readonly name: string;
	readonly type: GraphQLInputType;
	readonly format: ScalarFormat;
	/** Undefined if there is no default. */
	readonly defaultValue: unknown;
}

export function prepareVariables(
	schema: GraphQLSchema,
	nodes: readonly VariableDefinitionNode[],
): readonly VariableDefinition[] {
	return nodes.map((node) => {
		const name = node.variable.name.value;
		const type = typeFromAST(schema, node.type);
		if (!isInputType(type)) {
			throw new TypeError(`$${name} is not of an input type: not validated`);
		}
		const { defaultValue } = node;
		return {
			node,
			name,
			type,
			format: scalarFormat(isNonNullType(type) ? type.ofType : type),
			defaultValue: defaultValue && valueFromAST(defaultValue, type),
		};
	});
}

/**
 * CoerceVariableValues (spec §6.1.2). Unlike `getVariableValues` of graphql-js,
 * an error quotes only the wrong part of a value: sixty wrong fields beside a
 * megabyte of text would otherwise make sixty megabytes of errors.
 */
export function coerceVariableValues(
	definitions: readonly VariableDefinition[],
	given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | readonly GraphQLError[] {
	// No prototype, because `__proto__` is a legal name.
	const coerced: Record<string, unknown> = Object.create(null);
	const errors: GraphQLError[] = [];
	function report(message: string, node: VariableDefinitionNode): void {
		if (errors.length === MAX_ERRORS) {
			errors.push(variableError("More errors are omitted.", node));
			throw TOO_MANY;
		}
		errors.push(variableError(message, node));
	}
	try {
		for (const { node, name, type, format, defaultValue } of definitions) {
			const value = Object.hasOwn(given, name) ? given[name] : undefined;
			if (hasFormat(format, value)) {
				coerced[name] = value;
			} else if (value === undefined && node.defaultValue) {
				coerced[name] = defaultValue;
			} else if (value === undefined || value === null) {
				if (isNonNullType(type)) {
					report(
						value === null
							? `Variable "$${name}" of non-null type "${type}" must not be null.`
							: `Variable "$${name}" of required type "${type}" was not provided.`,
						node,
					);
				} else if (value === null) {
					coerced[name] = null;
				}
			} else {
				coerced[name] = coerceInputValue(value, type, (path, part, error) =>
					report(
						`Variable "$${name}" got invalid value ${quoted(part)}${describePath(name, path)}; ${error.message}`,
						node,
					),
				);
			}
		}
	} catch (thrown) {
		if (thrown !== TOO_MANY) throw thrown;
	}
	return errors.length > 0 ? errors : coerced;
}

/** Thrown to stop the coercion of a value halfway. */
const TOO_MANY = new Error("too many errors");

function variableError(
	message: string,
	nodes: VariableDefinitionNode,
): GraphQLError {
	return new GraphQLError(message, {
		nodes,
		extensions: { code: "BAD_USER_INPUT" },
	});
}

function describePath(
	name: string,
	path: readonly (string | number)[],
): string {
	if (path.length === 0) return "";
	const keys = path.map((key) =>
		typeof key === "number" ? `[${key}]` : `.${key}`,
	);
	return ` at "${name}${keys.join("")}"`;
}
