import {
	type GraphQLArgument,
	type GraphQLInputType,
	type GraphQLLeafType,
	type GraphQLSchema,
	isEnumType,
	isInputObjectType,
	isListType,
	isNonNullType,
	Kind,
	type OperationDefinitionNode,
	OperationTypeNode,
	type ValueNode,
} from "graphql";
import type { FieldParameters, FieldProblem } from "../../errors.ts";
import { DATE_TIME_EXAMPLE } from "../../model/dateTime.ts";
import type { Model } from "../../model/types.ts";
import type { FieldPolicies } from "../../model/validation.ts";
import type { InputTypes, Resolvers } from "../batchResolver.ts";
import { getOperation, type Operation } from "./planCache.ts";

/** Fields of one request. A long list of wrong values must not become a longer response. */
const MAX_PROBLEMS = 100;

interface Options {
	readonly schema: GraphQLSchema;
	readonly model: Model;
	// The context of the resolvers is not looked at.
	readonly resolvers: Resolvers<never>;
	readonly fields?: FieldPolicies;
}

/**
 * What is wrong with the first mutation of an operation whose arguments do not fit
 * their types, field by field, with what its resolver would say of the other
 * fields: a form shows all at once. Whether a value is a literal or comes in a
 * variable makes no difference. Empty if all fits. The document need not be valid.
 */
export function inputProblems(
	{ schema, model, resolvers, fields = {} }: Options,
	request: Operation,
): readonly FieldProblem[] {
	const operation = getOperation(
		request.document,
		request.operationName ?? null,
	);
	if (!("kind" in operation)) return [];
	if (operation.operation !== OperationTypeNode.MUTATION) return [];
	const type = schema.getMutationType();
	for (const node of operation.selectionSet.selections) {
		if (node.kind !== Kind.FIELD) continue;
		const definition = type?.getFields()[node.name.value];
		if (!type || !definition) continue;
		const reader = new ArgumentReader(operation, request.variables ?? {});
		const args = Object.fromEntries(
			definition.args.map((argument) => [
				argument.name,
				reader.read(
					argument,
					node.arguments?.find(({ name }) => name.value === argument.name)
						?.value,
				),
			]),
		);
		const { problems } = reader;
		if (problems.length === 0) continue;
		const types: InputTypes = { model, fields };
		const resolver = resolvers.get(`${type.name}.${definition.name}`);
		const others = resolver?.inputProblems?.(args, types) ?? [];
		return [
			...problems,
			...others.filter(
				({ path }) => !problems.some((known) => isWithin(path, known.path)),
			),
		].slice(0, MAX_PROBLEMS);
	}
	return [];
}

type Path = FieldProblem["path"];

/** A value as a client gave it: in the document, or in the variables. */
type Given = { readonly literal: ValueNode } | { readonly value: unknown };

/** Coerces arguments (spec §6.4.1) as far as they can be, and collects what cannot. */
class ArgumentReader {
	readonly problems: FieldProblem[] = [];
	readonly #operation: OperationDefinitionNode;
	readonly #variables: Readonly<Record<string, unknown>>;

	constructor(
		operation: OperationDefinitionNode,
		variables: Readonly<Record<string, unknown>>,
	) {
		this.#operation = operation;
		this.#variables = variables;
	}

	read(
		{ name, type, defaultValue }: GraphQLArgument,
		literal: ValueNode | undefined,
	): unknown {
		const given = literal && this.#given(literal);
		return this.#readField(type, defaultValue, given, [name]);
	}

	#readField(
		type: GraphQLInputType,
		defaultValue: unknown,
		given: Given | undefined,
		path: Path,
	): unknown {
		if (given !== undefined) return this.#coerce(type, given, path);
		if (defaultValue === undefined && isNonNullType(type)) {
			this.#required(path);
		}
		return defaultValue;
	}

	/** What a literal stands for; undefined for a variable without a value. */
	#given(literal: ValueNode): Given | undefined {
		if (literal.kind !== Kind.VARIABLE) return { literal };
		const name = literal.name.value;
		if (Object.hasOwn(this.#variables, name)) {
			const value = this.#variables[name];
			return value === undefined ? undefined : { value };
		}
		const definition = this.#operation.variableDefinitions?.find(
			({ variable }) => variable.name.value === name,
		);
		return definition?.defaultValue && { literal: definition.defaultValue };
	}

	#coerce(type: GraphQLInputType, given: Given, path: Path): unknown {
		if (isNull(given)) {
			if (!isNonNullType(type)) return null;
			this.#required(path);
			return undefined;
		}
		if (isNonNullType(type)) return this.#coerce(type.ofType, given, path);
		if (isListType(type)) {
			const items = this.#itemsOf(given);
			if (items === null) return [this.#coerce(type.ofType, given, path)];
			return items.map((item, index) =>
				this.#readField(type.ofType, undefined, item, [...path, index]),
			);
		}
		if (!isInputObjectType(type)) return this.#coerceLeaf(type, given, path);
		const parts = this.#fieldsOf(given);
		if (parts === null) {
			this.#invalid(path, "This must be a group of fields.", {
				type: type.name,
			});
			return undefined;
		}
		const fields = type.getFields();
		for (const name of parts.keys()) {
			if (fields[name] === undefined) {
				this.#invalid([...path, name], "This field does not exist.");
			}
		}
		if (type.isOneOf) {
			const values = [...parts.values()].filter((part) => part !== undefined);
			if (values.length !== 1 || values.some(isNull)) {
				this.#invalid(path, "Give exactly one of these.");
			}
		}
		return Object.fromEntries(
			Object.values(fields).flatMap((field) => {
				const { name, type: fieldType, defaultValue } = field;
				const value = this.#readField(
					fieldType,
					defaultValue,
					parts.get(name),
					[...path, name],
				);
				return value === undefined ? [] : [[name, value]];
			}),
		);
	}

	#coerceLeaf(type: GraphQLLeafType, given: Given, path: Path): unknown {
		try {
			const value =
				"literal" in given
					? type.parseLiteral(given.literal, this.#variables)
					: type.parseValue(given.value);
			if (value !== undefined) return value;
		} catch {
			// The message is for developers, and is in the error itself.
		}
		// Without the names of an enum: where introspection is off, nobody is to read the schema.
		const must = isEnumType(type)
			? `a value of ${type.name}`
			: (SENTENCES[type.name] ?? "text");
		this.#invalid(path, `This must be ${must}.`, { type: type.name });
		return undefined;
	}

	#itemsOf(given: Given): readonly (Given | undefined)[] | null {
		if ("literal" in given) {
			return given.literal.kind === Kind.LIST
				? given.literal.values.map((item) => this.#given(item))
				: null;
		}
		return Array.isArray(given.value)
			? given.value.map((value: unknown) => ({ value }))
			: null;
	}

	#fieldsOf(given: Given): ReadonlyMap<string, Given | undefined> | null {
		if ("literal" in given) {
			return given.literal.kind === Kind.OBJECT
				? new Map(
						given.literal.fields.map(({ name, value }) => [
							name.value,
							this.#given(value),
						]),
					)
				: null;
		}
		const { value } = given;
		if (typeof value !== "object" || value === null || Array.isArray(value)) {
			return null;
		}
		return new Map(
			Object.entries(value).flatMap(([name, part]: [string, unknown]) =>
				part === undefined ? [] : [[name, { value: part }]],
			),
		);
	}

	#required(path: Path): void {
		this.#add({ path, code: "REQUIRED", message: "Fill this in." });
	}

	#invalid(
		path: Path,
		message: string,
		parameters: FieldParameters = {},
	): void {
		this.#add({ path, code: "INVALID", ...parameters, message });
	}

	#add(problem: FieldProblem): void {
		if (this.problems.length < MAX_PROBLEMS) this.problems.push(problem);
	}
}

const SENTENCES: Readonly<Record<string, string>> = {
	Boolean: "true or false",
	DateTime: `a date and time with its zone, such as ${DATE_TIME_EXAMPLE}`,
	Float: "a number",
	ID: "an id, which is text",
	Int: "a whole number",
};

function isNull(given: Given | undefined): boolean {
	if (given === undefined) return false;
	return "literal" in given
		? given.literal.kind === Kind.NULL
		: given.value === null;
}

/** Whether a path is another one or leads below it. */
function isWithin(path: Path, other: Path): boolean {
	return other.every((step, index) => path[index] === step);
}
