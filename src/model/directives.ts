import {
	type ASTNode,
	type DirectiveNode,
	type GraphQLDirective,
	type GraphQLField,
	type GraphQLInterfaceType,
	type GraphQLNamedType,
	type GraphQLObjectType,
	type GraphQLSchema,
	getDirectiveValues,
	getNamedType,
	isEnumType,
	isInterfaceType,
	isObjectType,
	isSpecifiedDirective,
} from "graphql";
import type { JsonValue } from "../util/json.ts";
import { type Problems, tryOrAddProblem } from "./problems.ts";
import { SEMANTIC_NON_NULL } from "./semanticNonNull.ts";
import type { Lookup, MappingOrder } from "./types.ts";

/** The definitions that directives.graphql must have: the code reads the arguments as these types. */
const STORAGE_DIRECTIVES: Readonly<Record<string, string>> = {
	object: "(type: Int!, table: String!) on OBJECT",
	mapping:
		"(name: String!, table: String!, inverse: String, order: NEWEST_FIRST|OLDEST_FIRST|POSITION|LOWEST_FIRST|HIGHEST_FIRST = NEWEST_FIRST, groupBy: String, orderBy: String, place: GRAPH|FEEDS = GRAPH, edges: String) on FIELD_DEFINITION",
	reference: "(key: String!) on FIELD_DEFINITION",
	lookup:
		"(name: String!, of: [String!], fold: CASE|NONE = NONE) repeatable on FIELD_DEFINITION|OBJECT",
	stored: "(key: String, default: StoredValue) on FIELD_DEFINITION",
	prefixes: "(of: [String!]!) on FIELD_DEFINITION",
	edge: "(mapping: String!, from: String!, to: String!) on FIELD_DEFINITION",
	mutations:
		"(owner: String, in: String, create: String, add: String, remove: String, move: String) on OBJECT|FIELD_DEFINITION",
};

export function isStorageDirective(name: string): boolean {
	return Object.hasOwn(STORAGE_DIRECTIVES, name);
}

/** An object type of the SDL with the arguments of its storage directives. */
export interface DeclaredType {
	readonly name: string;
	readonly node: ASTNode | null | undefined;
	/** `object` has rows of its own: it has `@object`, or implements `Node`. `query` and `mutation` are the root types. `plain` is a part of another value. */
	readonly role: "object" | "query" | "mutation" | "plain";
	readonly type: GraphQLObjectType;
	readonly object: Directive<{ type: number; table: string }> | null;
	/** Natural keys of several fields. */
	readonly lookups: readonly Directive<DeclaredLookup>[];
	readonly fields: ReadonlyMap<string, DeclaredField>;
}

export interface DeclaredField {
	/** `Type.field`, for messages. */
	readonly path: string;
	readonly owner: string;
	readonly name: string;
	readonly node: ASTNode | null | undefined;
	readonly field: GraphQLField<unknown, unknown>;
	readonly stored: Directive<{ key?: string; default?: JsonValue }> | null;
	readonly reference: Directive<{ key: string }> | null;
	readonly mapping: Directive<{
		name: string;
		table: string;
		inverse?: string | null;
		order: MappingOrder;
		groupBy?: string | null;
		orderBy?: string | null;
		place: "GRAPH" | "FEEDS";
	}> | null;
	readonly lookup: Directive<DeclaredLookup> | null;
	readonly prefixes: Directive<{ of: readonly string[] }> | null;
	readonly edge: Directive<{
		mapping: string;
		from: string;
		to: string;
	}> | null;
}

export interface DeclaredLookup {
	name: string;
	of?: readonly string[] | null;
	fold: Lookup["fold"];
}

export interface Directive<Values> {
	readonly node: DirectiveNode;
	/** Null if the arguments are invalid, which is already reported. */
	readonly values: Readonly<Values> | null;
}

/** Reads the storage directives of all object types. Nothing else reads them. */
export function readDirectives(
	schema: GraphQLSchema,
	problems: Problems,
): ReadonlyMap<string, DeclaredType> | null {
	if (!checkDefinitions(schema, problems)) return null;
	const declared = new Map<string, DeclaredType>();
	for (const type of definedTypes(schema)) {
		if (isInterfaceType(type)) refuseOnInterface(type, problems);
		if (!isObjectType(type)) continue;
		const nodes = [type.astNode, ...type.extensionASTNodes];
		const read = reader(schema, nodes, problems);
		const [object = null] = read<{ type: number; table: string }>("object");
		declared.set(type.name, {
			name: type.name,
			node: type.astNode,
			type,
			role: roleOf(schema, type, object),
			object,
			lookups: read<DeclaredLookup>("lookup"),
			fields: new Map(
				Object.values(type.getFields()).map((field) => [
					field.name,
					readField(schema, type.name, field, problems),
				]),
			),
		});
	}
	return declared;
}

/** The types that the SDL defines. */
export function definedTypes(
	schema: GraphQLSchema,
): readonly GraphQLNamedType[] {
	return Object.values(schema.getTypeMap()).filter(
		({ name }) => !name.startsWith("__"),
	);
}

function readField(
	schema: GraphQLSchema,
	owner: string,
	field: GraphQLField<unknown, unknown>,
	problems: Problems,
): DeclaredField {
	const readAll = reader(schema, [field.astNode], problems);
	const read = <Values>(name: string) => readAll<Values>(name)[0] ?? null;
	return {
		path: `${owner}.${field.name}`,
		owner,
		name: field.name,
		node: field.astNode,
		field,
		stored: read("stored"),
		reference: read("reference"),
		mapping: read("mapping"),
		lookup: read("lookup"),
		prefixes: read("prefixes"),
		edge: read("edge"),
	};
}

function reader(
	schema: GraphQLSchema,
	nodes: readonly (
		| { readonly directives?: readonly DirectiveNode[] | undefined }
		| null
		| undefined
	)[],
	problems: Problems,
) {
	return <Values>(name: string): readonly Directive<Values>[] => {
		const definition = schema.getDirective(name);
		if (!definition) return [];
		return nodes
			.flatMap((each) => each?.directives ?? [])
			.filter((each) => each.name.value === name)
			.map((node) => ({
				node,
				// The definitions equal STORAGE_DIRECTIVES, so the values that graphql-js
				// coerces by them are of these types.
				values: problems.hasProblem(node)
					? null
					: (tryOrAddProblem(problems, () =>
							getDirectiveValues(definition, { directives: [node] }),
						) as Values | null),
			}));
	};
}

function roleOf(
	schema: GraphQLSchema,
	type: GraphQLObjectType,
	object: DeclaredType["object"],
): DeclaredType["role"] {
	if (type === schema.getQueryType()) return "query";
	if (type === schema.getMutationType()) return "mutation";
	return object !== null || isNode(type) ? "object" : "plain";
}

export function isNode(type: GraphQLObjectType): boolean {
	return type.getInterfaces().some(({ name }) => name === "Node");
}

function refuseOnInterface(
	type: GraphQLInterfaceType,
	problems: Problems,
): void {
	for (const field of Object.values(type.getFields())) {
		for (const node of field.astNode?.directives ?? []) {
			if (!isStorageDirective(node.name.value)) continue;
			problems.add(
				node,
				`@${node.name.value} on ${type.name}.${field.name}: an interface stores nothing: put the directive on the types that implement it`,
			);
		}
	}
}

function checkDefinitions(schema: GraphQLSchema, problems: Problems): boolean {
	let right = true;
	for (const [name, expected] of Object.entries(STORAGE_DIRECTIVES)) {
		const definition = schema.getDirective(name);
		const got = definition ? signature(definition) : "no definition";
		if (got === expected) continue;
		right = false;
		problems.add(
			definition?.astNode,
			`the directive @${name} must be defined as ${expected}, got ${got}`,
		);
	}
	for (const definition of schema.getDirectives()) {
		const { name, astNode } = definition;
		const isKnown =
			isSpecifiedDirective(definition) ||
			isStorageDirective(name) ||
			name === SEMANTIC_NON_NULL;
		if (isKnown) continue;
		problems.add(
			astNode,
			`the directive @${name} is none of ${Object.keys(STORAGE_DIRECTIVES)
				.map((each) => `@${each}`)
				.join(", ")}: remove it, nothing reads it`,
		);
	}
	return right;
}

function signature({
	args,
	locations,
	isRepeatable,
}: GraphQLDirective): string {
	const spelled = args.map(({ name, type, defaultValue }) => {
		const named = getNamedType(type);
		const values = isEnumType(named)
			? named
					.getValues()
					.map((value) => value.name)
					.join("|")
			: String(type);
		const fallback = defaultValue === undefined ? "" : ` = ${defaultValue}`;
		return `${name}: ${values}${fallback}`;
	});
	const repeatable = isRepeatable ? " repeatable" : "";
	return `(${spelled.join(", ")})${repeatable} on ${locations.join("|")}`;
}
