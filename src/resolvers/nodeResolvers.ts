import { CorkboardError } from "../errors.ts";
import type { RequestContext } from "../graphql/context.ts";
import { id } from "../graphql/input/validators.ts";
import type { Id } from "../id/ids.ts";
import type { GivenKey, Lookup } from "../model/types.ts";
import type { BatchResolver } from "../plan/batchResolver.ts";
import type { JsonValue } from "../util/json.ts";
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

/** By an id or a natural key. The key is named as its lookup; one of several parts is an input of them. A key that no object can have is not looked up. */
export function byIdOrKey(
	field: string,
	name: string,
	isPossible: (key: string) => boolean = () => true,
): BatchResolver<RequestContext> {
	const found = rootField({
		cost: () => 0,
		dependsOnViewer: false,
		resolve(args, context, call) {
			const { graph } = context;
			// `@oneOf`: it has one field, which is not null.
			const by = args.by as Readonly<Record<string, unknown>>;
			if (by.id !== undefined) return readId(field, "by.id", by.id);
			const lookup = lookupOf(graph.model, name);
			const given = by[name];
			const key =
				typeof given === "string"
					? isPossible(given)
						? given
						: null
					: readParts(`${field}: by.${name}`, lookup, given, context.fields);
			if (key === null) return null;
			return andThen(
				graph.lookUp(lookup, [key], call),
				([holder]) => holder ?? null,
			);
		},
	});
	return { ...found, uses: { lookup: name } };
}

/** The parts of a natural key, each as its field would be stored; null if no object can have one of them. */
function readParts(
	path: string,
	{ type, parts }: Lookup,
	given: unknown,
	policies: RequestContext["fields"],
): GivenKey | null {
	const values: Record<string, JsonValue> = {};
	for (const { field, isReference } of parts) {
		const value = (given as Readonly<Record<string, JsonValue>>)[field] ?? null;
		const read = isReference
			? { value: readIdOf(`${path}.${field}`, value) }
			: (policies[type]?.[field]?.validate(value) ?? { value });
		if ("problems" in read || read.value === null) return null;
		values[field] = read.value;
	}
	return values;
}

/** Null for an id that is well formed but cannot name an object. */
function readId(field: string, argument: string, given: unknown): Id | null {
	return readIdOf(`${field}: ${argument}`, given);
}

function readIdOf(path: string, given: unknown): Id | null {
	const result = id(given);
	if ("problems" in result) {
		const messages = result.problems.map(({ message }) => message).join("; ");
		throw badInput(`${path} ${messages}.`);
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
