import {
	bothOrFirstError,
	type InputId,
	id,
	ids,
	isGiven,
	type JsonObject,
	type MutationContext,
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
	movedPin,
);

/** How many pins one mutation moves or deletes. */
export const MAX_PINS = 50;

/**
 * One after the other, each as by `movePin`, the last one first: the first one then
 * is on top. Who may not move one of them moves none.
 */
export const movePins = mutation(
	{
		name: "movePins",
		input: () => ({
			pinIds: required(ids(MAX_PINS)),
			boardId: optional(id),
			sectionId: optional(id),
		}),
		cost: ({ pinIds, boardId, sectionId }) =>
			countOf(pinIds) *
			(3 +
				(isGiven(boardId) || isGiven(sectionId) ? 1 : 0) +
				(isGiven(sectionId) ? 2 : 0)),
		maxObjects: MAX_PINS,
	},
	async ({ pinIds, ...target }, context) => {
		for (const pinId of pinIds) {
			await requireRight(context, "Pin", "arrange", pinId);
		}
		const pins: JsonObject[string][] = [];
		for (const pinId of pinIds.toReversed()) {
			const { pin } = await movedPin({ pinId, ...target }, context);
			if (pin !== undefined) pins.unshift(pin);
		}
		return { pins, viewer: context.viewer };
	},
);

/** What a list of an input counts for in the cost, before it is validated. */
export function countOf(given: unknown): number {
	return Array.isArray(given) ? Math.min(given.length, MAX_PINS) : 1;
}

interface Move {
	readonly pinId: InputId;
	readonly boardId: InputId | null | undefined;
	readonly sectionId: InputId | null | undefined;
	readonly beforePinId?: InputId | null | undefined;
	readonly afterPinId?: InputId | null | undefined;
}

async function movedPin(
	{ pinId, boardId, sectionId, ...beside }: Move,
	context: MutationContext,
): Promise<JsonObject> {
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
}

/** By the field of the pin that they follow. */
const MAPPINGS = { board: "placePin", section: "placeInSection" } as const;
