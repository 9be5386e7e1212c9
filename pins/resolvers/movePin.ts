import {
	bothOrFirstError,
	CorkboardError,
	type Id,
	type InputId,
	id,
	ids,
	isGiven,
	type JsonObject,
	type MutationContext,
	mutation,
	type Node,
	optional,
	positionInput,
	required,
	requireOnList,
} from "corkboard";
import {
	inSection,
	sectionField,
	sectionIdOf,
	sectionOf,
} from "../parts/sections.ts";
import {
	mappingOf,
	referenceOf,
	requireVisible,
	updatedStoredJson,
} from "../typed.ts";
import { requireRight, requireRightOn } from "./permissions.ts";

const position = positionInput("Pin");

/**
 * A moved pin keeps its id and with it its shard. Only its board, its section
 * and its position in one of them change: in the section if one is given.
 */
export const movePin = mutation(
	{
		name: "movePin",
		input: (types) => ({
			pinId: required(id),
			boardId: optional(id),
			...sectionField(types),
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
	async (given, context) =>
		carryOut(await checkedMove(given, context), context),
);

/** How many pins one mutation moves or deletes. */
export const MAX_PINS = 50;

/**
 * Each as by `movePin`, the last one first: the first one then is on top. All are
 * checked before the first is moved, so a refusal moves none.
 */
export const movePins = mutation(
	{
		name: "movePins",
		input: (types) => ({
			pinIds: required(ids(MAX_PINS)),
			boardId: optional(id),
			...sectionField(types),
		}),
		cost: ({ pinIds, boardId, sectionId }) =>
			countOf(pinIds) *
			(3 +
				(isGiven(boardId) || isGiven(sectionId) ? 1 : 0) +
				(isGiven(sectionId) ? 2 : 0)),
		maxObjects: MAX_PINS,
	},
	async ({ pinIds, ...target }, context) => {
		const moves: Move[] = [];
		for (const pinId of pinIds) {
			moves.push(await checkedMove({ pinId, ...target }, context));
		}
		for (const move of moves.toReversed()) await carryOut(move, context);
		return { pins: moves.map(({ pin }) => pin.id), viewer: context.viewer };
	},
);

/** What a list of an input counts for in the cost, before it is validated. */
export function countOf(given: unknown): number {
	return Array.isArray(given) ? Math.min(given.length, MAX_PINS) : 1;
}

interface MoveInput {
	readonly pinId: InputId;
	readonly boardId: InputId | null | undefined;
	readonly sectionId: InputId | null | undefined;
	readonly beforePinId?: InputId | null | undefined;
	readonly afterPinId?: InputId | null | undefined;
}

/** A move that the viewer may make. */
interface Move {
	readonly pin: Node;
	readonly from: Id | null;
	readonly fromSection: Id | null;
	readonly board: Node;
	/** The section that is given. */
	readonly section: Node | null;
	/** Whether the pin leaves its section, unless another one is given. */
	readonly leaves: boolean;
	readonly neighbor: Awaited<ReturnType<typeof position.neighbor>>;
}

async function checkedMove(
	{ pinId, boardId, sectionId, ...beside }: MoveInput,
	context: MutationContext,
): Promise<Move> {
	const { model } = context.graph;
	const pin = await requireRight(context, "Pin", "arrange", pinId);
	const from = referenceOf(model, pin, "board");
	const target = isGiven(boardId)
		? boardId
		: isGiven(sectionId)
			? referenceOf(
					model,
					await requireVisible(context, "Section", sectionId ?? "reserved"),
					"board",
				)
			: from;
	const [board, neighbor] = await bothOrFirstError(
		requireRight(context, "Board", "pin", target ?? "reserved"),
		position.neighbor(beside, context),
	);
	if (board.id !== from) {
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
	return {
		pin,
		from,
		fromSection: sectionIdOf(context.graph, pin),
		board,
		section,
		leaves: sectionId === null || board.id !== from,
		neighbor,
	};
}

async function carryOut(
	{ pin, from, fromSection, board, section, leaves, neighbor }: Move,
	{ graph, writes }: MutationContext,
): Promise<JsonObject> {
	const { model } = graph;
	const change = (data: JsonObject) => {
		// The rights were checked for the board that it was on.
		if (referenceOf(model, { ...pin, data }, "board") !== from) {
			throw new CorkboardError(
				"CONFLICT",
				"The pin was moved meanwhile. Try again.",
			);
		}
		return (
			updatedStoredJson(model, "Pin", data, {
				board: board.id,
				...inSection(graph, section?.id ?? (leaves ? null : undefined)),
			}) ?? data
		);
	};
	if (section === null && leaves && neighbor === null && board.id === from) {
		// Only out of its section: it keeps its place on the board.
		await writes.modify(pin.id, change);
	} else if (neighbor?.node.id !== pin.id) {
		// A pin that is moved beside itself stays where it is.
		await writes.move({
			mapping: mappingOf(
				model,
				MAPPINGS[section === null ? "board" : "section"],
			),
			object: pin.id,
			from: (section ?? board).id,
			change,
			...(neighbor && { [neighbor.side]: neighbor.node.id }),
		});
	}
	return {
		pin: pin.id,
		board: board.id,
		section: section?.id ?? (leaves ? null : fromSection),
		previousBoard: from,
		previousSection: fromSection,
	};
}

/** By the field of the pin that they follow. */
const MAPPINGS = { board: "placePin", section: "placeInSection" } as const;
