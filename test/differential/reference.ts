import {
	buildSchema,
	execute,
	type GraphQLFieldResolver,
	GraphQLObjectType,
	type GraphQLOutputType,
	type GraphQLResolveInfo,
	type GraphQLSchema,
	getNamedType,
	isAbstractType,
	isListType,
	isNonNullType,
	printSchema,
} from "graphql";
// Not exported by graphql's index: its CollectFields, to find the selected fields of a page.
import { collectSubfields } from "graphql/execution/collectFields.js";
import { CorkboardError } from "../../src/errors.ts";
import type {
	Node,
	Page,
	PageArguments,
	PageEdge,
	PageFields,
} from "../../src/graph/types.ts";
import type { RequestContext } from "../../src/graphql/context.ts";
import type { Id } from "../../src/id/ids.ts";
import {
	type FieldSource,
	globalListId,
	type Model,
} from "../../src/model/types.ts";
import type { Resolvers } from "../../src/plan/batchResolver.ts";
import type { Execute, Operation } from "./operation.ts";

type Context = RequestContext;
type Resolve = GraphQLFieldResolver<unknown, Context>;

/**
 * The first oracle: stock graphql-js on an executable schema, with a resolver for
 * each field. It uses the model, the graph and the batch resolvers (with one
 * parent at a time), and nothing of `src/plan`.
 */
export function createReference(options: {
	readonly publicSchema: GraphQLSchema;
	readonly model: Model;
	readonly resolvers: Resolvers<RequestContext>;
	readonly contextOf: (operation: Operation) => Context;
}): Execute {
	const schema = executableSchema(options);
	return async (operation) =>
		execute({
			schema,
			document: operation.document,
			operationName: operation.operationName,
			variableValues: operation.variables,
			contextValue: options.contextOf(operation),
		});
}

function executableSchema({
	publicSchema,
	model,
	resolvers,
}: Parameters<typeof createReference>[0]): GraphQLSchema {
	const schema = buildSchema(printSchema(publicSchema));
	for (const type of Object.values(schema.getTypeMap())) {
		if (isAbstractType(type)) {
			type.resolveType = (value) => (value as Node).type;
		}
		if (!(type instanceof GraphQLObjectType)) continue;
		const sources = model.sources.get(type.name);
		if (sources === undefined) continue;
		for (const field of Object.values(type.getFields())) {
			const source = sources.get(field.name);
			if (source === undefined) {
				throw new TypeError(`${type.name}.${field.name} has no source`);
			}
			field.resolve = loadObjects(
				model,
				field.type,
				resolverOf(model, resolvers, `${type.name}.${field.name}`, source),
			);
		}
	}
	return schema;
}

function resolverOf(
	model: Model,
	resolvers: Resolvers<RequestContext>,
	coordinate: string,
	source: FieldSource,
): Resolve {
	switch (source.kind) {
		case "id":
			return (node) => (node as Node).id;
		case "stored":
			return (node) => {
				const { data } = node as Node;
				return source.key in data ? data[source.key] : source.default;
			};
		case "reference":
			return (node) => (node as Node).data[source.key];
		case "mapping":
			return pageOf(model, source.mapping);
		case "resolver":
			return async (parent, args, context) => {
				const results = await resolvers.get(coordinate)?.resolve({
					parents: [(parent as Node | undefined) ?? null],
					args,
					context,
					call: {},
				});
				return results?.[0];
			};
		case "payloadEdge":
			return async (parent, _, { graph }) => {
				const ids = parent as Readonly<Record<string, Id | null | undefined>>;
				const [from, to] = [ids[source.from], ids[source.to]];
				const mapping = model.mappings.get(source.mapping);
				if (!from || !to || mapping === undefined) return null;
				const [edge] = await graph.readEdges(mapping, [{ from, to }]);
				return edge ?? null;
			};
		case "property":
			return (record) =>
				(record as Record<string, unknown>)[coordinate.split(".")[1] as string];
		case "page":
			return (value) => {
				const page = value as Page;
				if (source.part === "nodes") return page.edges.map(({ node }) => node);
				return source.part === "pageInfo" ? page : page[source.part];
			};
		case "edge":
			return (value) => {
				const edge = value as PageEdge;
				if (source.part === "cursor") return edge.cursor();
				if (source.part === "node") return edge.node;
				return new Date(Math.floor(edge.sequence / 1000)).toISOString();
			};
	}
}

function pageOf(model: Model, name: string): Resolve {
	const mapping = model.mappings.get(name);
	if (mapping === undefined) throw new TypeError(`no mapping ${name}`);
	return async (parent, args, { graph }, info) => {
		const from =
			mapping.from === null
				? globalListId(model, mapping)
				: (parent as Node).id;
		const page = pageArguments(args, selectedPageFields(info));
		return (await graph.readPages(mapping, [from], page))[0];
	};
}

/** Null and an empty cursor mean absent, sizes out of range are errors, and `before` alone selects the 20 edges before it. */
function pageArguments(
	{ first, last, after, before }: Record<string, unknown>,
	fields: PageFields,
): PageArguments {
	for (const size of [first, last]) {
		if (typeof size === "number" && (size < 0 || size > 100)) {
			throw new CorkboardError("BAD_USER_INPUT", "first or last");
		}
	}
	if (typeof first === "number" && typeof last === "number") {
		throw new CorkboardError("BAD_USER_INPUT", "first and last");
	}
	const isCursor = (given: unknown) =>
		typeof given === "string" && given !== "";
	const bounds = {
		...(isCursor(after) && { after: after as string }),
		...(isCursor(before) && { before: before as string }),
		fields,
	};
	if (typeof first === "number") return { first, ...bounds };
	if (typeof last === "number") return { last, ...bounds };
	return isCursor(before) && !isCursor(after)
		? { last: 20, ...bounds }
		: { first: 20, ...bounds };
}

/** The graph must get the same fields as from the plan: they can change the length of a page with invisible edges. */
function selectedPageFields(info: GraphQLResolveInfo): PageFields {
	const selected = new Set<string>();
	const visit = (
		type: GraphQLOutputType,
		fieldNodes: typeof info.fieldNodes,
	) => {
		const named = getNamedType(type);
		if (!(named instanceof GraphQLObjectType)) return;
		const { schema, fragments, variableValues } = info;
		for (const merged of collectSubfields(
			schema,
			fragments,
			variableValues,
			named,
			fieldNodes,
		).values()) {
			const name = merged[0]?.name.value as string;
			selected.add(name);
			const field = named.getFields()[name];
			if (name === "pageInfo" && field) visit(field.type, merged);
		}
	};
	try {
		visit(info.returnType, info.fieldNodes);
	} catch {
		// An invalid condition: graphql-js reports it when it completes the field.
	}
	return {
		edges: selected.has("edges") || selected.has("nodes"),
		hasNextPage: selected.has("hasNextPage"),
		hasPreviousPage: selected.has("hasPreviousPage"),
		cursors: selected.has("startCursor") || selected.has("endCursor"),
		totalCount: selected.has("totalCount"),
	};
}

/** Reads the objects of a field whose value is ids. */
function loadObjects(
	model: Model,
	type: GraphQLOutputType,
	resolve: Resolve,
): Resolve {
	const named = getNamedType(type);
	if (!model.objects.has(named.name) && !isAbstractType(named)) return resolve;
	const load = async (value: unknown, context: Context): Promise<unknown> => {
		if (typeof value !== "string") return value ?? null;
		const [node] = await context.graph.readObjects([value as Id]);
		if (!node || node instanceof CorkboardError) return node ?? null;
		return isAbstractType(named) || node.type === named.name ? node : null;
	};
	const isList = isListType(isNonNullType(type) ? type.ofType : type);
	return async (parent, args, context, info) => {
		const value: unknown = await resolve(parent, args, context, info);
		return isList && Array.isArray(value)
			? value.map((item) => load(item, context))
			: load(value, context);
	};
}
