import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
	type GraphQLObjectType,
	getNamedType,
	isInputObjectType,
	isObjectType,
} from "graphql";
import type { Id } from "../../src/id/ids.ts";
import { model, Resolving, schema } from "../helpers/resolving.ts";

/** Mutations that neither create, change, delete nor link what clients keep. */
const OTHERS = new Set([
	"deletePins",
	"movePins",
	"deactivateUser",
	"hideFromHomeFeed",
	"refreshHomeFeed",
	"report",
]);

/** A list that no new object of that mutation is on. */
const NEVER_ON: Readonly<Record<string, string>> = { createPin: "repin" };

const VERB =
	/^(create|add|repin|update|move|delete|remove|follow|unfollow|like|unlike|block|unblock)(?=[A-Z]|$)/;

const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});

/** What a mutation is about, by its name and its input: `followUser` is no object's creation. */
function readMutation(field: (typeof mutations)[number]) {
	const { name } = field;
	const payload = getNamedType(field.type);
	const input = getNamedType(field.args[0]?.type ?? field.type);
	assert.ok(isObjectType(payload) && isInputObjectType(input), name);
	const verb = VERB.exec(name)?.[1] ?? "";
	const creates = Object.hasOwn(input.getFields(), "idempotencyKey");
	const noun = verb === "repin" ? "Pin" : name.slice(verb.length);
	const kind = creates
		? "create"
		: verb === "add"
			? "link"
			: verb === "remove"
				? "unlink"
				: /^(follow|like|block)$/.test(verb)
					? "link"
					: verb.startsWith("un")
						? "unlink"
						: verb;
	return { name, payload, kind, noun };
}

/** The lists that follow a reference of a type's objects, as `[mapping, type that owns them]`. */
function listsOf(type: string): [string, string][] {
	const derived = model.objects.get(type)?.derivedMappings ?? [];
	// Clients know nothing of a list that only `schema/internal.graphql` has.
	const known = derived.filter(({ from, field }) => {
		const owner = schema.getType(String(from));
		return isObjectType(owner) && Object.hasOwn(owner.getFields(), field);
	});
	return known.map(({ name, from }) => [name, String(from)]);
}

function edgesOf(payload: GraphQLObjectType) {
	return [...(model.sources.get(payload.name) ?? [])].flatMap(
		([field, source]) =>
			source.kind === "payloadEdge" ? [{ field, ...source }] : [],
	);
}

function hasFieldOf(payload: GraphQLObjectType, type: string): boolean {
	return Object.values(payload.getFields()).some(
		(field) => String(field.type) === type,
	);
}

describe("the payload of a mutation", () => {
	for (const field of mutations) {
		const { name, payload, kind, noun } = readMutation(field);
		const fields = payload.getFields();
		const edges = edgesOf(payload);
		if (OTHERS.has(name)) continue;

		it(`${name} returns what a client's cache needs to follow the change (${kind})`, () => {
			const lists = listsOf(noun).filter(([list]) => list !== NEVER_ON[name]);
			const arranged = lists.filter(
				([list]) => model.mappings.get(list)?.order === "POSITION",
			);
			const placed = edges.map(({ mapping }) => mapping);
			if (kind === "create" || kind === "move") {
				assert.ok(hasFieldOf(payload, noun), `no ${noun}`);
				for (const [list, owner] of kind === "move" ? arranged : lists) {
					assert.ok(placed.includes(list), `no edge of ${list}`);
					assert.ok(hasFieldOf(payload, owner), `no ${owner}`);
				}
			} else if (kind === "update") {
				assert.ok(hasFieldOf(payload, noun), `no ${noun}`);
			} else if (kind === "delete") {
				assert.equal(String(fields[`deleted${noun}Id`]?.type), "ID");
				for (const [, owner] of lists) {
					// A repin stays when the pin that was saved is deleted.
					if (owner === noun) continue;
					assert.ok(hasFieldOf(payload, owner), `no ${owner}`);
				}
			} else {
				assert.match(kind, /^(un)?link$/, `say in this test what ${name} is`);
				if (kind === "link") checkBothSides(placed);
				assert.equal(String(fields.viewer?.type), "User");
				const ends = Object.values(fields).filter(({ type }) =>
					model.objects.has(String(type)),
				);
				assert.ok(ends.length >= 2, "not both ends");
			}
		});

		it(`${name} names each edge after its type, and has both of its ends`, () => {
			for (const { field, from, to } of edges) {
				const type = String(fields[field]?.type);
				assert.ok(
					field.toLowerCase().endsWith(type.toLowerCase()),
					`${field}: ${type}`,
				);
				assert.ok(fields[from] && fields[to], field);
			}
		});
	}

	it("has every field that the SDL promises", async () => {
		for (const field of mutations) {
			const { name, payload } = readMutation(field);
			const at = new Resolving();
			const result = await at.change(name, inputOf(at, name));
			const promised = Object.keys(payload.getFields()).filter(
				(one) => !edgesOf(payload).some(({ field }) => field === one),
			);
			assert.deepEqual(
				Object.keys(result).toSorted(),
				promised.toSorted(),
				name,
			);
			for (const [one, value] of Object.entries(result)) {
				assert.notEqual(value, undefined, `${name}.${one}`);
			}
		}
	});
});

/** A link has an edge, and one for the other side of each, unless only `schema/internal.graphql` has that. */
function checkBothSides(placed: readonly string[]): void {
	assert.ok(placed.length > 0, "no edge");
	for (const mapping of placed) {
		const { inverse } = model.mappings.get(mapping) ?? {};
		if (inverse?.kind !== "target") continue;
		const other = model.mappings.get(inverse.mapping);
		const owner = schema.getType(String(other?.from));
		assert.ok(other && isObjectType(owner));
		if (!Object.hasOwn(owner.getFields(), other.field)) continue;
		assert.ok(placed.includes(other.name), `no ${other.name}`);
	}
}

/** An input that succeeds, with every id that the mutation can take. */
function inputOf(at: Resolving, mutation: string): Record<string, unknown> {
	const boardId = at.board(at.ada);
	const sectionId = at.section(boardId);
	const pinId = at.pin(at.ada, boardId, { section_id: sectionId });
	const commentId = at.graph.add("Comment", {
		text: "Nice",
		user_id: at.ada,
		pin_id: pinId,
	});
	const interest: Id = at.graph.add("Interest", { slug: "a", name: "A" });
	const given: Record<string, Record<string, unknown>> = {
		createUser: { username: "cy_made_up" },
		updateUser: { name: "x" },
		deactivateUser: { userId: at.ada },
		movePins: { pinIds: [pinId], boardId, sectionId },
		deletePins: { pinIds: [pinId] },
		hideFromHomeFeed: { pinId },
		refreshHomeFeed: { userId: at.ada },
		createBoard: { name: "x" },
		createSection: { boardId, name: "x" },
		createPin: { boardId, sectionId },
		repin: { pinId, boardId, sectionId },
		addComment: { pinId, text: "x" },
		updateComment: { commentId, text: "x" },
		deleteComment: { commentId },
		addCollaborator: { boardId, userId: at.ben },
		removeCollaborator: { boardId, userId: at.ben },
		report: { subjectId: pinId, reason: "SPAM" },
	};
	const byNoun: Record<string, Record<string, unknown>> = {
		Board: { boardId },
		Section: { sectionId },
		Pin: { pinId },
		User: { userId: at.ben },
		Interest: { interestId: interest },
	};
	const noun = /[A-Z]\w*$/.exec(mutation)?.[0] ?? "";
	const input = given[mutation] ?? byNoun[noun];
	assert.ok(input, `say in this test what ${mutation} takes`);
	return input;
}
