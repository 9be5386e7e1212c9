import { CorkboardError } from "../errors.ts";
import type { RequestContext } from "../graphql/context.ts";
import { id } from "../graphql/input/validators.ts";
import type { Id } from "../id/ids.ts";
import type { BatchResolver } from "../plan/batchResolver.ts";
import { andThen } from "../util/maybePromise.ts";
import { rootField } from "./rootField.ts";
import { lookupOf } from "./storedJson.ts";

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

/** Null for an anonymous request. */
const viewer: BatchResolver<RequestContext> = rootField({
	cost: () => 0,
	dependsOnViewer: true,
	resolve: (_, context) => context.viewer,
});

/** `Query.node`, `Query.nodes` and `Query.viewer`, which an app need not write. */
export function nodeResolvers(): readonly (readonly [
	string,
	BatchResolver<RequestContext>,
])[] {
	return [
		["Query.node", byId("node")],
		["Query.nodes", nodes],
		["Query.viewer", viewer],
	];
}

/** A field of Query that takes an `id`. It answers the id: the plan fetches the object, if the viewer may see it. */
export function byId(field: string): BatchResolver<RequestContext> {
	return rootField({
		cost: () => 0,
		dependsOnViewer: false,
		resolve: (args) => readId(field, "id", args.id),
	});
}

/** By an id or a natural key. The key is named as its lookup. A key that no object can have is not looked up. */
export function byIdOrKey(
	field: string,
	name: string,
	isPossible: (key: string) => boolean = () => true,
): BatchResolver<RequestContext> {
	const found = rootField({
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
				([holder]) => holder ?? null,
			);
		},
	});
	return { ...found, uses: { lookup: name } };
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
