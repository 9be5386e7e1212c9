import { CorkboardError } from "../../src/errors.ts";
import { edgesByPrefix } from "../../src/graph/read/findByPrefix.ts";
import type { RequestContext } from "../../src/graphql/context.ts";
import { id } from "../../src/graphql/input/validators.ts";
import type { Id } from "../../src/id/ids.ts";
import type { BatchResolver, Resolvers } from "../../src/plan/batchResolver.ts";
import { coerceFirst } from "../../src/plan/pageArguments.ts";
import { nodesOf } from "../../src/resolvers/nodesOf.ts";
import {
	type Arguments,
	rootField,
	sizeOfList,
} from "../../src/resolvers/rootField.ts";
import { lookupOf, mappingOf } from "../../src/resolvers/storedJson.ts";
import { andThen, isPromise } from "../../src/util/maybePromise.ts";
import { isSlug, isUsername } from "../validators.ts";

const MAX_NODES = 100;

const nodes: BatchResolver<RequestContext> = rootField({
	cost: () => 0,
	// `resolve` refuses a longer list with a better error than its cost would.
	maxObjects: ({ ids }) => Math.min(listOf(ids).length, MAX_NODES),
	dependsOnViewer: false,
	resolve({ ids }) {
		const given = listOf(ids);
		if (given.length > MAX_NODES) {
			throw badInput(
				`nodes: ids must have at most ${MAX_NODES} items, got ${given.length}.`,
			);
		}
		return given.map((one, index) => readId("nodes", `ids[${index}]`, one));
	},
});

const viewer: BatchResolver<RequestContext> = rootField({
	cost: () => 0,
	dependsOnViewer: true,
	resolve: (_, context) => context.viewer,
});

const startOf = ({ startsWith }: Arguments) =>
	typeof startsWith === "string" ? startsWith : "";

/** The list's edges and the objects that are read of them, and the user with exactly that username. Those that are returned are counted by the plan. */
const users: BatchResolver<RequestContext> = rootField({
	cost(args) {
		const first = sizeOfList(args);
		const edges = edgesByPrefix(startOf(args), first);
		return edges === 0 ? 0 : edges + Math.max(0, edges - first) + 1;
	},
	maxObjects: sizeOfList,
	dependsOnViewer: true,
	resolve(args, { graph }, call) {
		const { model } = graph;
		const first = coerceFirst(args);
		const text = startOf(args);
		if (first === 0) return nodesOf([]);
		const newest = graph.findByPrefix(
			mappingOf(model, "prefixUser"),
			text,
			first,
			call,
		);
		if (!isUsername(text)) return andThen(newest, nodesOf);
		// Of two that fail, one is waited for.
		if (isPromise(newest)) newest.catch(() => {});
		const named = andThen(
			graph.lookUp(lookupOf(model, "username"), [text], call),
			([found]) => {
				if (found instanceof CorkboardError) return [found];
				return found ? graph.readObjects([found], call) : [];
			},
		);
		return andThen(named, ([user]) =>
			andThen(newest, (others) =>
				nodesOf(
					[
						...(user ? [user] : []),
						...others.filter(
							(one) =>
								one instanceof CorkboardError ||
								user instanceof CorkboardError ||
								one.id !== user?.id,
						),
					].slice(0, first),
				),
			),
		);
	},
});

/**
 * Where every query starts, except `interests`, which is a mapping. They answer
 * ids: the plan fetches what the viewer may see and leaves the rest null.
 */
export const queryResolvers: Resolvers<RequestContext> = new Map([
	["Query.node", byId("node")],
	["Query.nodes", nodes],
	["Query.viewer", viewer],
	["Query.user", byIdOrKey("user", "username", isUsername)],
	["Query.users", users],
	["Query.board", byId("board")],
	["Query.pin", byId("pin")],
	["Query.comment", byId("comment")],
	["Query.interest", byIdOrKey("interest", "slug", isSlug)],
]);

function byId(field: string): BatchResolver<RequestContext> {
	return rootField({
		cost: () => 0,
		dependsOnViewer: false,
		resolve: (args) => readId(field, "id", args.id),
	});
}

/** By an id or a natural key. The key is named as its lookup. A key that no object can have is not looked up. */
function byIdOrKey(
	field: string,
	name: string,
	isPossible: (key: string) => boolean,
): BatchResolver<RequestContext> {
	return rootField({
		cost: () => 0,
		dependsOnViewer: false,
		resolve(args, { graph }, call) {
			// `@oneOf`: it has one field, which is not null.
			const by = args.by as Readonly<Record<string, unknown>>;
			if (by.id !== undefined) return readId(field, "by.id", by.id);
			const key = by[name];
			if (typeof key !== "string" || !isPossible(key)) return null;
			return andThen(
				graph.lookUp(lookupOf(graph.model, name), [key], call),
				([found]) => found ?? null,
			);
		},
	});
}

/** Null for an id that is well formed but cannot name an object. */
function readId(field: string, argument: string, given: unknown): Id | null {
	const result = id(given);
	if ("problems" in result) {
		const messages = result.problems.map(({ message }) => message).join("; ");
		throw badInput(`${field}: ${argument} ${messages}.`);
	}
	return result.value === "reserved" ? null : result.value;
}

function listOf(given: unknown): readonly unknown[] {
	if (!Array.isArray(given)) {
		throw new TypeError("The ids of nodes are not a list.");
	}
	return given;
}

function badInput(message: string): CorkboardError {
	return new CorkboardError("BAD_USER_INPUT", message);
}
