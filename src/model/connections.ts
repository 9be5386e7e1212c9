import {
	type GraphQLObjectType,
	getNamedType,
	getNullableType,
	isListType,
	isNonNullType,
	isObjectType,
} from "graphql";
import type { DeclaredField, DeclaredType } from "./directives.ts";
import type { Problems } from "./problems.ts";
import type { FieldSource } from "./types.ts";

/** The connection, edge and page info types found so far, with the source of each field. */
export type PageTypes = Map<string, ReadonlyMap<string, FieldSource>>;

const PAGE_ARGUMENTS = "(first: Int, after: String, last: Int, before: String)";

const PAGE_INFO = {
	hasNextPage: "Boolean!",
	hasPreviousPage: "Boolean!",
	startCursor: "String",
	endCursor: "String",
};

const CONNECTION_SOURCES: ReadonlyMap<string, FieldSource> = new Map(
	(["edges", "nodes", "pageInfo", "totalCount"] as const).map((part) => [
		part,
		{ kind: "page", part },
	]),
);

const TIME_TYPE = "DateTime!";

/**
 * The name of the type that a mapping's edges lead to, which is that of its
 * connection's nodes. Null, and problems, if the field is not a connection of
 * the shape that clients rely on (docs/how-to/schema.md, "A type").
 */
export function readConnection(
	field: DeclaredField,
	types: ReadonlyMap<string, DeclaredType>,
	pageTypes: PageTypes,
	problems: Problems,
): string | null {
	checkArguments(field, problems);
	const { type } = field.field;
	if (isNonNullType(type)) {
		problems.add(
			field.node,
			`${field.path} is a connection, whose host may be down, so it must be nullable, got ${type}`,
		);
	}
	const connection = getNullableType(type);
	const target = isObjectType(connection) ? nodeType(connection) : null;
	if (!isObjectType(connection) || target === null) {
		problems.add(
			field.node,
			`${field.path} has @mapping, so it must be a connection, such as PinConnection, got ${type}`,
		);
		return null;
	}
	if (types.get(target.name)?.role !== "object") {
		problems.add(
			field.node,
			`the edges of ${field.path} must lead to a type with @object, got ${target.name}`,
		);
		return null;
	}
	if (!pageTypes.has(connection.name)) {
		pageTypes.set(connection.name, CONNECTION_SOURCES);
		checkConnection(connection, target.name, types, pageTypes, problems);
	}
	return target.name;
}

/** The type of a connection's nodes; null for a type without nodes. */
function nodeType(connection: GraphQLObjectType): GraphQLObjectType | null {
	const nodes = connection.getFields().nodes;
	if (nodes !== undefined && isListType(getNullableType(nodes.type))) {
		const type = getNamedType(nodes.type);
		return isObjectType(type) ? type : null;
	}
	const edge = connection.getFields().edges;
	const edgeType = edge && getNamedType(edge.type);
	if (!isObjectType(edgeType)) return null;
	const node = edgeType.getFields().node;
	const type = node && getNamedType(node.type);
	return isObjectType(type) ? type : null;
}

function checkArguments(field: DeclaredField, problems: Problems): void {
	// `readOrder` checks the argument of a list that is ordered by a field.
	const args = field.field.args.filter(
		({ name }) => name !== "startAt" || field.mapping?.values?.orderBy == null,
	);
	const spelled = args.map(({ name, type }) => `${name}: ${type}`);
	if (`(${spelled.toSorted().join()})` !== sortedArguments()) {
		problems.add(
			field.node,
			`${field.path} must take ${PAGE_ARGUMENTS}, got (${spelled.join(", ")})`,
		);
	}
	for (const { name, defaultValue, astNode } of field.field.args) {
		if (defaultValue === undefined) continue;
		problems.add(
			astNode,
			`the argument ${name} of ${field.path} must have no default, because null also means "not given", got ${JSON.stringify(defaultValue)}`,
		);
	}
}

function sortedArguments(): string {
	return `(${PAGE_ARGUMENTS.slice(1, -1).split(", ").toSorted().join()})`;
}

function checkConnection(
	connection: GraphQLObjectType,
	target: string,
	types: ReadonlyMap<string, DeclaredType>,
	pageTypes: PageTypes,
	problems: Problems,
): void {
	const prefix = /^(.+)Connection$/.exec(connection.name)?.[1];
	if (prefix === undefined) {
		problems.add(
			connection.astNode,
			`the name of a connection type must end in Connection, got ${connection.name}`,
		);
		return;
	}
	checkShape(connection, problems, {
		edges: `[${prefix}Edge!]!`,
		nodes: `[${target}]!`,
		pageInfo: "PageInfo!",
		totalCount: "Int",
	});
	const edge = types.get(`${prefix}Edge`)?.type;
	if (edge !== undefined) checkEdge(edge, target, pageTypes, problems);
	const pageInfo = types.get("PageInfo")?.type;
	if (pageInfo !== undefined) checkShape(pageInfo, problems, PAGE_INFO);
}

/** An edge may have one more field, of any name: when the edge was created, such as `likedAt`. */
function checkEdge(
	edge: GraphQLObjectType,
	target: string,
	pageTypes: PageTypes,
	problems: Problems,
): void {
	const time = Object.keys(edge.getFields()).find(
		(name) => name !== "node" && name !== "cursor",
	);
	pageTypes.set(
		edge.name,
		new Map<string, FieldSource>([
			["node", { kind: "edge", part: "node" }],
			["cursor", { kind: "edge", part: "cursor" }],
			...(time === undefined
				? []
				: [[time, { kind: "edge", part: "at" }] as const]),
		]),
	);
	checkShape(edge, problems, {
		node: target,
		cursor: "String!",
		...(time === undefined ? {} : { [time]: TIME_TYPE }),
	});
}

/** A list that is ordered by a field of its objects does not keep when its edges were created. */
export function checkNoTime(
	{ path, field, mapping }: DeclaredField,
	pageTypes: PageTypes,
	problems: Problems,
): void {
	const edge = getNamedType(field.type).name.replace(/Connection$/, "Edge");
	for (const [name, source] of pageTypes.get(edge) ?? []) {
		if (source.kind !== "edge" || source.part !== "at") continue;
		problems.add(
			mapping?.node,
			`${path} has orderBy, so its edges do not keep when they were created: ${edge} must not have ${name}; a list may have edges of a type of its own, with edges`,
		);
	}
}

function checkShape(
	type: GraphQLObjectType,
	problems: Problems,
	shape: Readonly<Record<string, string>>,
): void {
	const fields = type.getFields();
	for (const [name, expected] of Object.entries(shape)) {
		const got = fields[name];
		if (String(got?.type) === expected) continue;
		problems.add(
			got?.astNode ?? type.astNode,
			`${type.name} must have ${name}: ${expected}, got ${got === undefined ? "no such field" : `${name}: ${got.type}`}`,
		);
	}
	for (const { name, astNode } of Object.values(fields)) {
		if (Object.hasOwn(shape, name)) continue;
		problems.add(
			astNode,
			`${type.name}.${name} is not part of a page: ${type.name} may only have ${Object.keys(shape).join(", ")}`,
		);
	}
}
