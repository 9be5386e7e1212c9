import {
	type Arguments,
	andThen,
	type BatchResolver,
	byId,
	CorkboardError,
	coerceFirst,
	edgesByPrefix,
	isPromise,
	nodesOf,
	type RequestContext,
	type Resolvers,
	rootField,
	sizeOfList,
} from "corkboard";
import { byIdOrKey, lookupOf, mappingOf } from "../typed.ts";
import { isSlug, isUsername } from "../validators.ts";

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
		// If both fail, only one is waited for.
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
	["Query.user", byIdOrKey("user", "username", isUsername)],
	["Query.users", users],
	["Query.board", byId("board")],
	["Query.pin", byId("pin")],
	["Query.interest", byIdOrKey("interest", "slug", isSlug)],
]);
