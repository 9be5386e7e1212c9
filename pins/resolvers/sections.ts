import {
	type Id,
	type InputId,
	id,
	invalidField,
	type MutationContext,
	mutation,
	type Node,
	positionInput,
	type RequestContext,
	type Resolvers,
	required,
	requireOnList,
} from "corkboard";
import { listCount, mappingOf, referenceOf, requireVisible } from "../typed.ts";
import { requireRight, SECTION_COST, viewerCan } from "./permissions.ts";

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
	["Mutation.moveSection", moveSection],
	["Section.pinCount", listCount("placeInSection")],
	["Section.viewerCanUpdate", viewerCan("Section", "update")],
	["Section.viewerCanDelete", viewerCan("Section", "delete")],
]);
