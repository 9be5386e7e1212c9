import { CorkboardError } from "../../errors.ts";
import type { RequestContext } from "../../graphql/context.ts";
import { id } from "../../graphql/input/validators.ts";
import type { Id } from "../../id/ids.ts";
import { isSlug, isUsername } from "../../model/validation.ts";
import type { BatchResolver, Resolvers } from "../../plan/batchResolver.ts";
import { quoted } from "../../util/quoted.ts";
import { rootField } from "./rootField.ts";
import { lookupOf } from "./storedJson.ts";

/** CONTRACT, "Types". */
const MAX_NODES = 100;

const nodes: BatchResolver<RequestContext> = rootField({
	cost: () => 0,
	// A longer list is refused whatever it would cost, and says why.
	maxObjects: ({ ids }) => Math.min(listOf(ids).length, MAX_NODES),
	dependsOnViewer: false,
	answer({ ids }) {
		const given = listOf(ids);
		if (given.length > MAX_NODES) {
			throw refused(
				`nodes: expected at most ${MAX_NODES} ids but got: ${given.length}`,
			);
		}
		return given.map((one, index) => idOf(`nodes: ids[${index}]`, one));
	},
});

const viewer: BatchResolver<RequestContext> = rootField({
	cost: () => 0,
	dependsOnViewer: true,
	answer: (_, context) => context.viewer,
});

/**
 * The roots of every read but `interests`, which is a mapping. They answer ids:
 * the plan fetches what the viewer may see, and leaves the rest null.
 */
export const queryResolvers: Resolvers<RequestContext> = new Map([
	["Query.node", byId("node")],
	["Query.nodes", nodes],
	["Query.viewer", viewer],
	["Query.user", byIdOrName("user", "username", isUsername)],
	["Query.board", byId("board")],
	["Query.pin", byId("pin")],
	["Query.comment", byId("comment")],
	["Query.interest", byIdOrName("interest", "slug", isSlug)],
]);

function byId(field: string): BatchResolver<RequestContext> {
	return rootField({
		cost: () => 0,
		dependsOnViewer: false,
		answer: (args) => idOf(`${field}: id`, args.id),
	});
}

/** By exactly one of an id and a natural key, whose argument and lookup have one name. A key nobody can have is not looked up. */
function byIdOrName(
	field: string,
	name: string,
	possible: (key: string) => boolean,
): BatchResolver<RequestContext> {
	return rootField({
		cost: () => 0,
		dependsOnViewer: false,
		async answer(args, { graph }, call) {
			const given = ["id", name].filter(
				(one) => args[one] !== undefined && args[one] !== null,
			);
			if (given.length !== 1) {
				throw refused(
					`${field}: expected exactly one of id and ${name} but got: ${given.length === 0 ? "neither" : "both"}`,
				);
			}
			if (given[0] === "id") return idOf(`${field}: id`, args.id);
			const key = args[name];
			if (typeof key !== "string" || !possible(key)) return null;
			const [found] = await graph.lookUp(
				lookupOf(graph.model, name),
				[key],
				call,
			);
			return found ?? null;
		},
	});
}

/** Null for an id that is well formed and names nothing. */
function idOf(where: string, given: unknown): Id | null {
	const ruled = id(given);
	if ("faults" in ruled) {
		throw refused(
			`${where}: ${ruled.faults.map((fault) => fault.message).join("; ")}`,
		);
	}
	return ruled.value === "reserved" ? null : ruled.value;
}

function listOf(given: unknown): readonly unknown[] {
	if (!Array.isArray(given)) {
		throw new TypeError(`expected a list of ids but got: ${quoted(given)}`);
	}
	return given;
}

function refused(problem: string): CorkboardError {
	return new CorkboardError("BAD_USER_INPUT", `${problem}.`);
}
