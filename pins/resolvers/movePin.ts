import {
	bothOrFirstError,
	id,
	isGiven,
	type JsonObject,
	mappingOf,
	mutation,
	optional,
	positionInput,
	referenceOf,
	required,
	requireOnList,
	requireVisible,
	updatedStoredJson,
} from "corkboard";
import { requireRight, requireRightOn } from "./permissions.ts";
import { sectionOf } from "./sections.ts";

const position = positionInput("Pin");

/**
 * A moved pin keeps its id and with it its shard. Only its board, its section
 * and its position in one of them change: in the section if one is given.
 */
export const movePin = mutation(
	{
		name: "movePin",
		input: () => ({
			pinId: required(id),
			boardId: optional(id),
			sectionId: optional(id),
			...position.fields,
		}),
		validateTogether: position.problems,
		// The pin, its board, whether the target is shared, the target if it is another board, and twice the section: to find its board.
		cost: (given) =>
			3 +
			(isGiven(given.boardId) || isGiven(given.sectionId) ? 1 : 0) +
			(isGiven(given.sectionId) ? 2 : 0) +
			position.cost(given),
	},
	async ({ pinId, boardId, sectionId, ...beside }, context) => {
		const { graph, writes } = context;
		const { model } = graph;
		const pin = await requireRight(context, "Pin", "arrange", pinId);
		const here = referenceOf(model, pin, "board");
		const previousSection = referenceOf(model, pin, "section");
		const target = isGiven(boardId)
			? boardId
			: isGiven(sectionId)
				? referenceOf(
						model,
						await requireVisible(context, "Section", sectionId ?? "reserved"),
						"board",
					)
				: here;
		const [board, neighbor] = await bothOrFirstError(
			requireRight(context, "Board", "pin", target ?? "reserved"),
			position.neighbor(beside, context),
		);
		if (board.id !== here) {
			await requireRightOn(context, "Pin", "takeAway", pin);
		}
		const section = await sectionOf("movePin", context, board, sectionId);
		const list = section ?? board;
		const field = section === null ? "board" : "section";
		requireOnList(
			"movePin",
			neighbor,
			(node) => referenceOf(model, node, field) === list.id,
			`a pin of the target ${field}`,
		);
		const leaves = sectionId === null || board.id !== here;
		const change = (data: JsonObject) =>
			updatedStoredJson(model, "Pin", data, {
				board: board.id,
				section: section?.id ?? (leaves ? null : undefined),
			}) ?? data;
		if (sectionId === null && neighbor === null && board.id === here) {
			// Only out of its section: it keeps its place on the board.
			await writes.modify(pin.id, change);
		} else if (neighbor?.node.id !== pin.id) {
			// A pin that is moved beside itself stays where it is.
			await writes.move({
				mapping: mappingOf(model, MAPPINGS[field]),
				object: pin.id,
				from: list.id,
				change,
				...(neighbor && { [neighbor.side]: neighbor.node.id }),
			});
		}
		return {
			pin: pin.id,
			board: board.id,
			section: section?.id ?? (leaves ? null : previousSection),
			previousBoard: here,
			previousSection,
		};
	},
);

/** By the field of the pin that they follow. */
const MAPPINGS = { board: "placePin", section: "placeInSection" } as const;
