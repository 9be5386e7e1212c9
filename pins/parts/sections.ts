import {
	type Graph,
	type Id,
	type InputId,
	id,
	invalidField,
	type MutationContext,
	type Node,
	optional,
	type PartOf,
	text,
} from "corkboard";
import { right, viewerCan } from "../resolvers/permissions.ts";
import {
	listCount,
	referenceOf,
	requireVisible,
	type Schema,
} from "../typed.ts";

/** The section, its board, and whether the board is shared with the viewer. */
const SECTION_COST = 3;

const SECTION_FIELD = { sectionId: optional(id) };

/** The field of an input that names a section; none in an app without them. */
export function sectionField({
	model,
}: Pick<Graph, "model">): typeof SECTION_FIELD {
	return hasSections(model) ? SECTION_FIELD : ({} as typeof SECTION_FIELD);
}

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

/** The section that a pin is in; null if it is in none, and where an app has no sections. */
export function sectionIdOf({ model }: Graph, pin: Node): Id | null {
	return hasSections(model) ? referenceOf(model, pin, "section") : null;
}

/** What is stored of the section of a pin: undefined keeps it, null takes the pin out. */
export function inSection(
	{ model }: Graph,
	section: Id | null | undefined,
): { readonly section?: Id | null | undefined } {
	return hasSections(model) ? { section } : {};
}

function hasSections({ objects }: Graph["model"]): boolean {
	return objects.has("Section");
}

/** Parts of boards, which their pins are in. */
export const sections: PartOf<Schema> = {
	resolvers: new Map([
		["Section.pinCount", listCount("placeInSection")],
		["Section.viewerCanUpdate", viewerCan("Section", "update")],
		["Section.viewerCanDelete", viewerCan("Section", "delete")],
	]),
	policies: {
		visibility: {
			types: { Section: { parent: "board" }, Pin: { siblings: ["section"] } },
		},
		placement: { Section: { colocateWith: "board" } },
		fields: { Section: { name: { validate: text(100) } } },
		rights: {
			Section: {
				// The board, and whether it is shared with the viewer.
				create: right("Board", "pin", 2),
				update: right("Section", "update", SECTION_COST),
				delete: right("Section", "delete", SECTION_COST),
				move: right("Section", "update", SECTION_COST),
			},
		},
	},
};
