import {
	fieldsToCreate,
	fieldsToUpdate,
	type Id,
	type InputId,
	id,
	idempotency,
	idempotencyKey,
	invalidField,
	type MutationContext,
	mutation,
	type Node,
	optional,
	positionInput,
	type RequestContext,
	type Resolvers,
	required,
	requireOnList,
} from "corkboard";
import {
	listCount,
	mappingOf,
	newStoredJson,
	referenceOf,
	requireVisible,
	updatedStoredJson,
} from "../typed.ts";
import { requireRight, viewerCan } from "./permissions.ts";

/** The section, its board, and whether the board is shared with the viewer. */
const SECTION_COST = 3;

const createSection = mutation(
	{
		name: "createSection",
		input: (types) => ({
			boardId: required(id),
			...fieldsToCreate(types, "Section"),
			idempotencyKey: optional(idempotencyKey),
		}),
		cost: () => 2,
	},
	async (input, context) => {
		const { boardId, idempotencyKey: _, ...fields } = input;
		const board = await requireRight(context, "Board", "pin", boardId);
		return {
			section: await context.writes.create({
				type: "Section",
				data: newStoredJson(context, "Section", {
					...fields,
					createdAt: context.now.toISOString(),
					board: board.id,
				}),
				...idempotency("createSection", context.viewer, input),
			}),
			board: board.id,
		};
	},
);

const updateSection = mutation(
	{
		name: "updateSection",
		input: (types) => ({
			sectionId: required(id),
			...fieldsToUpdate(types, "Section"),
		}),
		cost: () => SECTION_COST,
	},
	async ({ sectionId, ...fields }, context) => {
		const section = await requireRight(context, "Section", "update", sectionId);
		await context.writes.modify(section.id, (data) =>
			updatedStoredJson(context.graph.model, "Section", data, fields),
		);
		return { section: section.id };
	},
);

const position = positionInput("Section");

const moveSection = mutation(
	{
		name: "moveSection",
		input: () => ({ sectionId: required(id), ...position.fields }),
		validateTogether: position.problems,
		cost: (given) => SECTION_COST + position.cost(given),
	},
	async ({ sectionId, ...beside }, context) => {
		const { model } = context.graph;
		const section = await requireRight(context, "Section", "update", sectionId);
		const board = referenceOf(model, section, "board") as Id;
		const neighbor = await position.neighbor(beside, context);
		requireOnList(
			"moveSection",
			neighbor,
			(node) => referenceOf(model, node, "board") === board,
			"a section of the same board",
		);
		// A section that is moved beside itself stays where it is.
		if (neighbor?.node.id !== section.id) {
			await context.writes.move({
				mapping: mappingOf(model, "placeSection"),
				object: section.id,
				from: board,
				...(neighbor && { [neighbor.side]: neighbor.node.id }),
			});
		}
		return { section: section.id, board };
	},
);

/** Its pins need no write: they still name it, and it is not visible any more. */
const deleteSection = mutation(
	{
		name: "deleteSection",
		input: () => ({ sectionId: required(id) }),
		cost: () => SECTION_COST,
		maxObjects: 0,
	},
	async ({ sectionId }, context) => {
		const section = await requireRight(context, "Section", "delete", sectionId);
		await context.writes.remove(section.id);
		return {
			deletedSectionId: section.id,
			board: referenceOf(context.graph.model, section, "board"),
		};
	},
);

/** The section that a client names for a pin of this board; null for none. */
export async function sectionOf(
	mutation: string,
	context: MutationContext,
	board: Node,
	given: InputId | null | undefined,
): Promise<Node | null> {
	if (given === null || given === undefined) return null;
	const section = await requireVisible(context, "Section", given);
	if (referenceOf(context.graph.model, section, "board") !== board.id) {
		throw invalidField(
			mutation,
			"sectionId",
			"be a section of the board",
			"Choose a section of this board.",
		);
	}
	return section;
}

export const sectionResolvers: Resolvers<RequestContext> = new Map([
	["Mutation.createSection", createSection],
	["Mutation.updateSection", updateSection],
	["Mutation.moveSection", moveSection],
	["Mutation.deleteSection", deleteSection],
	["Section.pinCount", listCount("placeInSection")],
	["Section.viewerCanUpdate", viewerCan("Section", "update")],
	["Section.viewerCanDelete", viewerCan("Section", "delete")],
]);
