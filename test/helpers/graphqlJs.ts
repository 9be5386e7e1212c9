import {
	type DocumentNode,
	defaultFieldResolver,
	execute,
	type GraphQLError,
	type GraphQLOutputType,
	type GraphQLResolveInfo,
	getNamedType,
	isAbstractType,
	isListType,
	isNonNullType,
} from "graphql";
import { CorkboardError } from "../../src/errors.ts";
import type { Node, Page, PageEdge } from "../../src/graph/types.ts";
import type { Id } from "../../src/id/ids.ts";
import { globalListId } from "../../src/model/types.ts";
import { coercePageArguments } from "../../src/plan/pageArguments.ts";
import type { ListGraph } from "./listGraph.ts";
import {
	type JsonResponse,
	model,
	resolvers,
	schema,
	type World,
} from "./planning.ts";

/**
 * Executes an operation by stock graphql-js, field by field, with the same graph
 * and resolvers as the plan. The plan must give the same response.
 */
export async function executeByGraphqlJs(
	document: DocumentNode,
	variables: Record<string, unknown>,
	graph: ListGraph,
	world: World,
): Promise<JsonResponse> {
	const result = await execute({
		schema,
		document,
		variableValues: variables,
		fieldResolver: (parent, args, _, info) =>
			resolve(parent, args, info, graph, world),
		typeResolver: (value) => (value as Node).type,
	});
	return JSON.parse(
		JSON.stringify({
			...result,
			...(result.errors && { errors: result.errors.map(withCode) }),
		}),
	);
}

async function resolve(
	parent: unknown,
	args: Record<string, unknown>,
	info: GraphQLResolveInfo,
	graph: ListGraph,
	world: World,
): Promise<unknown> {
	const { parentType, fieldName, returnType } = info;
	const source = model.sources.get(parentType.name)?.get(fieldName);
	switch (source?.kind) {
		case "payloadEdge":
			throw new TypeError("The schema of this test has no @edge.");
		case undefined:
			return defaultFieldResolver(parent, args, world, info);
		case "id":
			return (parent as Node).id;
		case "stored":
			return (parent as Node).data[source.key] ?? source.default;
		case "reference":
			return load((parent as Node).data[source.key], returnType, graph);
		case "mapping": {
			const mapping = model.mappings.get(source.mapping);
			if (!mapping) throw new Error("no mapping");
			const from =
				mapping.from === null
					? globalListId(model, mapping)
					: (parent as Node).id;
			const fields = {
				edges: true,
				hasNextPage: true,
				hasPreviousPage: true,
				cursors: true,
				totalCount: true,
			};
			const page = { ...coercePageArguments(args), fields };
			return one(await graph.readPages(mapping, [from], page));
		}
		case "resolver": {
			const resolver = resolvers.get(`${parentType.name}.${fieldName}`);
			const parents = [(parent ?? null) as Node | null];
			const context = Object.assign(world, { graph });
			const answer = one(
				(await resolver?.resolve({ parents, args, context, call: {} })) ?? [],
			);
			return load(answer, returnType, graph);
		}
		case "property":
			return load(
				(parent as Record<string, unknown>)[fieldName],
				returnType,
				graph,
			);
		case "page": {
			const page = parent as Page;
			if (source.part === "pageInfo") return page;
			if (source.part === "nodes") return page.edges.map(({ node }) => node);
			return page[source.part];
		}
		case "edge": {
			const edge = parent as PageEdge;
			if (source.part === "cursor") return edge.cursor();
			if (source.part === "node") return edge.node;
			return new Date(edge.sequence / 1000).toISOString();
		}
	}
}

/** Reads the objects of ids; returns other values as they are. */
async function load(
	value: unknown,
	type: GraphQLOutputType,
	graph: ListGraph,
): Promise<unknown> {
	const named = getNamedType(type);
	const isStored = model.objects.has(named.name) || isAbstractType(named);
	if (!isStored || value === null || value === undefined) return value;
	const nullable = isNonNullType(type) ? type.ofType : type;
	if (isListType(nullable) && Array.isArray(value)) {
		return Promise.all(value.map((item) => load(item, nullable.ofType, graph)));
	}
	if (value instanceof Error) return value;
	const node = (await graph.readObjects([value as Id]))[0];
	if (!node || node instanceof CorkboardError) return node;
	return isAbstractType(named) || node.type === named.name ? node : null;
}

function one(results: readonly unknown[]): unknown {
	if (results.length !== 1)
		throw new Error(`expected one result, got ${results.length}`);
	return results[0];
}

function withCode(error: GraphQLError) {
	const original = error.originalError;
	const code =
		original instanceof CorkboardError
			? original.code
			: original === undefined || /^(Argument|Variable)/.test(error.message)
				? "BAD_USER_INPUT"
				: "INTERNAL";
	return { ...error.toJSON(), extensions: { code } };
}
