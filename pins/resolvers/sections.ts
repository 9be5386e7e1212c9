import {
	type InputId,
	invalidField,
	type MutationContext,
	type Node,
	type RequestContext,
	type Resolvers,
} from "corkboard";
import { listCount, referenceOf, requireVisible } from "../typed.ts";
import { viewerCan } from "./permissions.ts";

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
	["Section.pinCount", listCount("placeInSection")],
	["Section.viewerCanUpdate", viewerCan("Section", "update")],
	["Section.viewerCanDelete", viewerCan("Section", "delete")],
]);
