import {
	type GraphQLOutputType,
	type GraphQLSchema,
	getNamedType,
	getNullableType,
	isAbstractType,
	isInputObjectType,
	isListType,
	isNonNullType,
	isObjectType,
} from "graphql";
import { compact } from "../util/compact.ts";
import type { PageTypes } from "./connections.ts";
import {
	type DeclaredField,
	type DeclaredType,
	definedTypes,
	isNode,
} from "./directives.ts";
import type { Problems } from "./problems.ts";
import { isInternal } from "./publicSchema.ts";
import { semanticNonNullLevels } from "./semanticNonNull.ts";
import type { Mapping } from "./types.ts";

type Types = ReadonlyMap<string, DeclaredType>;

/** The type of an object is read from its id. So every type with ids is a Node with a type number, and only such types may be members of an abstract type. */
export function checkNodes(
	schema: GraphQLSchema,
	types: Types,
	unknown: ReadonlySet<string>,
	problems: Problems,
): void {
	for (const declared of types.values()) {
		const { name, node, role, type, object, lookups, fields } = declared;
		if (role !== "object") {
			for (const lookup of lookups) {
				problems.add(
					lookup.node,
					`@lookup must be on a type with @object, or on a field of one, got ${name}`,
				);
			}
			if (object === null) continue;
			problems.add(
				object.node,
				`${name} is a root type and cannot have @object`,
			);
			continue;
		}
		if (object === null) {
			problems.add(
				node,
				`${name} implements Node, so it must have @object, whose type number is in its ids`,
			);
		}
		if (!isNode(type) && !unknown.has("Node")) {
			problems.add(node, `${name} has @object, so it must implement Node`);
		}
		if (String(fields.get("id")?.field.type) !== "ID!") {
			problems.add(node, `${name} has @object, so it must have id: ID!`);
		}
	}
	const subscription = schema.getSubscriptionType();
	if (subscription) {
		problems.add(subscription.astNode, "subscriptions are not supported");
	}
	for (const type of definedTypes(schema)) {
		if (!isAbstractType(type)) continue;
		for (const member of schema.getPossibleTypes(type)) {
			if (types.get(member.name)?.role === "object") continue;
			problems.add(
				member.astNode,
				`${member.name} is a member of ${type.name}, so it must have @object: the type of a value is read from its id`,
			);
		}
	}
}

/** Every resolver must belong to a field. */
export function checkResolvers(
	types: Types,
	resolved: ReadonlySet<string>,
	problems: Problems,
): void {
	for (const path of resolved) {
		const [typeName = "", fieldName = ""] = path.split(".");
		const type = types.get(typeName);
		if (type?.fields.has(fieldName)) continue;
		problems.add(
			type?.node,
			`there is a resolver for ${path}, which is not a field`,
		);
	}
}

/** Every field has exactly one source, of a kind that its type allows. */
export function checkSource(
	field: DeclaredField,
	role: DeclaredType["role"],
	resolved: ReadonlySet<string>,
	problems: Problems,
): void {
	const sources = compact([
		role === "object" && field.name === "id" && "the id itself",
		field.stored && "@stored",
		field.reference && "@reference",
		field.mapping && "@mapping",
		resolved.has(field.path) && "a resolver",
		field.edge && role !== "plain" && "@edge",
	]);
	const possible = POSSIBLE[role];
	for (const source of sources) {
		if (source === "the id itself" || possible.includes(source)) continue;
		problems.add(
			field.node,
			`${field.path} can have ${listed(possible, "no source: its value is a part of its parent's")}, got ${source}`,
		);
	}
	if (field.lookup !== null && (role !== "object" || field.name === "id")) {
		problems.add(
			field.lookup.node,
			`@lookup must be on a field of a type with @object, got ${field.path}`,
		);
	}
	if (role === "plain" || sources.length === 1) return;
	problems.add(
		field.node,
		sources.length === 0
			? `${field.path} has no source: it must have ${listedOr(possible)}`
			: `${field.path} must have one source, got ${sources.join(" and ")}`,
	);
}

const POSSIBLE: Readonly<Record<DeclaredType["role"], readonly string[]>> = {
	object: ["@stored", "@reference", "@mapping", "a resolver"],
	query: ["@mapping", "a resolver"],
	mutation: ["a resolver"],
	plain: [],
};

/** `@mapping or a resolver` */
function listedOr(words: readonly string[]): string {
	return [words.slice(0, -1).join(", "), ...words.slice(-1)]
		.filter((part) => part !== "")
		.join(" or ");
}

function listed(words: readonly string[], none: string): string {
	return words.length === 0 ? none : words.join(", ");
}

/** Only connections, resolvers and root fields read arguments. */
export function checkArguments(
	field: DeclaredField,
	role: DeclaredType["role"],
	resolved: ReadonlySet<string>,
	problems: Problems,
): void {
	const readsArguments =
		field.mapping !== null ||
		resolved.has(field.path) ||
		role === "query" ||
		role === "mutation";
	if (readsArguments || field.field.args.length === 0) return;
	problems.add(
		field.node,
		`${field.path} must have no arguments, because nothing would read them, got ${field.field.args.map(({ name }) => name).join(", ")}`,
	);
}

/** A field that leads to an object is nullable: the object may be hidden or its host down. */
export function checkNullable(
	field: DeclaredField,
	types: Types,
	problems: Problems,
): void {
	const named = getNamedType(field.field.type);
	const leadsToObject =
		types.get(named.name)?.role === "object" || isAbstractType(named);
	if (!leadsToObject || !endsNonNull(field.field.type)) return;
	problems.add(
		field.node,
		`${field.path} needs another fetch, so it must be nullable, got ${field.field.type}`,
	);
}

function endsNonNull(type: GraphQLOutputType): boolean {
	if (isListType(type)) return endsNonNull(type.ofType);
	return (
		isNonNullType(type) &&
		(!isListType(type.ofType) || endsNonNull(type.ofType))
	);
}

/** A field with @edge is the edge of a mapping between two other fields of its type. */
export function checkEdge(
	{ edge, path, owner, field, node }: DeclaredField,
	types: Types,
	mappings: readonly Mapping[],
	problems: Problems,
): void {
	if (edge?.values == null) return;
	const { mapping: name, from, to } = edge.values;
	const mapping = mappings.find((one) => one.name === name);
	if (mapping === undefined || mapping.from === null) {
		problems.add(
			edge.node,
			`${path} is an edge of ${name}, which is no mapping of a type`,
		);
		return;
	}
	const list = types.get(mapping.from)?.fields.get(mapping.field)?.field.type;
	const expected = String(list).replace(/Connection!?$/, "Edge");
	if (String(field.type) !== expected) {
		problems.add(
			node,
			`${path} is an edge of ${name}, so it must be ${expected}, got ${field.type}`,
		);
	}
	for (const [end, type] of [
		[from, mapping.from],
		[to, mapping.to],
	] as const) {
		const got = types.get(owner)?.fields.get(end)?.field.type;
		if (String(got) === type) continue;
		problems.add(
			edge.node,
			`${path} is an edge of ${name}, so ${owner} must have ${end}: ${type}, got ${got === undefined ? "no such field" : `${end}: ${got}`}`,
		);
	}
}

/** Lists by prefix belong to no object, and no page of them is a field: a resolver reads them. */
export function checkPrefixes(
	{ prefixes, mapping, path, node }: DeclaredField,
	role: DeclaredType["role"],
	problems: Problems,
): void {
	if (prefixes === null) return;
	if (role !== "query" || mapping === null) {
		problems.add(
			prefixes.node,
			`${path} has @prefixes, so it must be a field of Query with @mapping`,
		);
	} else if (mapping.values?.order === "POSITION") {
		problems.add(
			mapping.node,
			`${path} has @prefixes, so nobody arranges its lists: its order must not be POSITION`,
		);
	} else if (!isInternal(node)) {
		problems.add(
			node,
			`${path} has @prefixes, so it has no page of its own: it must be in internal.graphql, and a field with a resolver reads it`,
		);
	}
}

/** A feed database has edges of lists in order of time and nothing else: no other side of an edge, and no objects. */
export function checkPlace(
	{ mapping, prefixes, path }: DeclaredField,
	problems: Problems,
): void {
	const { place, inverse, groupBy, order } = mapping?.values ?? {};
	if (place !== "FEEDS") return;
	const has = compact([
		inverse != null && "an inverse",
		groupBy != null && "groupBy",
		prefixes !== null && "@prefixes",
		order !== "NEWEST_FIRST" && `the order ${order}`,
	]);
	if (has.length === 0) return;
	problems.add(
		mapping?.node,
		`${path} has place: FEEDS, so its lists must be newest first and belong to one object, got ${has.join(", ")}`,
	);
}

/** The stored keys of the fields that @prefixes names; null for a field without it. */
export function readPrefixKeys(
	{ prefixes, path }: DeclaredField,
	to: string,
	types: Types,
	problems: Problems,
): readonly string[] | null {
	if (prefixes === null) return null;
	return (prefixes.values?.of ?? []).flatMap((name) => {
		const field = types.get(to)?.fields.get(name);
		if (field?.stored && /^String!?$/.test(String(field.field.type))) {
			return [field.stored.values?.key ?? name];
		}
		problems.add(
			prefixes.node,
			`${path} has prefixes of ${name}, so ${to} must have ${name}: String with @stored`,
		);
		return [];
	});
}

/** Only a field with @mapping returns a connection, an edge or page info; one with @edge, an edge. */
export function checkPageUse(
	field: DeclaredField,
	pageTypes: PageTypes,
	problems: Problems,
): void {
	const named = getNamedType(field.field.type);
	const isPart = field.mapping !== null || field.edge !== null;
	if (isPart || pageTypes.has(field.owner)) return;
	if (!isObjectType(named) || !pageTypes.has(named.name)) return;
	problems.add(
		field.node,
		`${field.path} returns ${named.name}, which is a part of a page, so it must have @mapping`,
	);
}

/**
 * Every JavaScript object has a value by a name such as `constructor`: graphql-js, the
 * policies and resolvers would read it where a client sent none. Each name is reported
 * once, at its first place.
 */
export function checkInputNames(
	schema: GraphQLSchema,
	fields: readonly DeclaredField[],
	problems: Problems,
): void {
	const inputs = Object.values(schema.getTypeMap()).filter(isInputObjectType);
	const named = [
		// Before the inputs that are made of them, so that the line is theirs.
		...fields.filter(({ stored }) => stored !== null),
		...inputs.flatMap((input) =>
			Object.values(input.getFields()).map(({ name, astNode }) => ({
				name,
				path: `${input.name}.${name}`,
				node: astNode,
			})),
		),
		...fields.flatMap(({ path, field }) =>
			field.args.map(({ name, astNode }) => ({
				name,
				path: `${path}(${name}:)`,
				node: astNode,
			})),
		),
	];
	const bad = new Map(
		named
			.toReversed()
			.filter(({ name }) => name in {})
			.map((one) => [one.name, one]),
	);
	for (const { name, path, node } of bad.values()) {
		problems.add(
			node,
			`${path} cannot be named ${name}, which every JavaScript object has: choose another name`,
		);
	}
}

/** The directive is for objects that are fetched, of which the engine says at each null why it is there. */
export function checkSemanticNonNull(
	{ path, node, field }: DeclaredField,
	types: Types,
	problems: Problems,
): void {
	for (const level of semanticNonNullLevels(field.astNode)) {
		const position = typeAt(field.type, level);
		if (
			position !== null &&
			!isNonNullType(position) &&
			types.get(String(position))?.role === "object"
		) {
			continue;
		}
		problems.add(
			node,
			`@semanticNonNull of ${path} must name a nullable position of an object type, got level ${level} of ${field.type}`,
		);
	}
}

/** The type at a level; null if there is no such level. */
function typeAt(
	type: GraphQLOutputType,
	level: number,
): GraphQLOutputType | null {
	if (level === 0) return type;
	const list = getNullableType(type);
	return level > 0 && isListType(list) ? typeAt(list.ofType, level - 1) : null;
}
