import { CorkboardError } from "../../errors.ts";
import type { Node } from "../../graph/types.ts";
import { optional, required } from "../../graphql/input/readInput.ts";
import { id } from "../../graphql/input/validators.ts";
import { type Id, parseStoredId } from "../../id/ids.ts";
import { type MutationContext, mutation } from "./mutation.ts";
import {
	bothOrFirstError,
	requireMember,
	requireOwned,
	requireVisible,
} from "./requireVisible.ts";
import { mappingOf, storedValue } from "./storedJson.ts";

/** A moved pin keeps its id and with it its shard. Only its board and its position change. */
export const movePin = mutation(
	{
		name: "movePin",
		input: () => ({
			pinId: required(id),
			boardId: optional(id),
			beforePinId: optional(id),
			afterPinId: optional(id),
		}),
		validateTogether: ({ beforePinId, afterPinId }) =>
			isGiven(beforePinId) && isGiven(afterPinId)
				? [
						{
							path: "beforePinId and afterPinId",
							message: "must not both be given",
						},
					]
				: [],
		cost: ({ beforePinId, afterPinId }) =>
			3 + (isGiven(beforePinId) || isGiven(afterPinId) ? 1 : 0),
	},
	async (input, context) => {
		const pin = await requireOwned(context, "Pin", input.pinId);
		const target = input.boardId ?? boardOf(pin, context);
		const side = isGiven(input.beforePinId) ? "before" : "after";
		const neighborId = input[`${side}PinId`] ?? null;
		const [board, neighbor] = await bothOrFirstError(
			requireMember(context, target),
			neighborId === null
				? Promise.resolve(null)
				: requireVisible(context, "Pin", neighborId),
		);
		if (neighbor && boardOf(neighbor, context) !== board.id) {
			throw new CorkboardError(
				"BAD_USER_INPUT",
				`movePin: ${side}PinId must be a pin of the target board.`,
			);
		}
		// A pin that is moved beside itself stays where it is.
		if (neighbor?.id !== pin.id) {
			await context.writes.move({
				mapping: mappingOf(context.graph.model, "placePin"),
				object: pin.id,
				from: board.id,
				...(neighbor ? { [side]: neighbor.id } : {}),
			});
		}
		return { pin: pin.id };
	},
);

function boardOf(pin: Node, { graph }: MutationContext): Id {
	return parseStoredId(String(storedValue(graph.model, pin, "board")));
}

function isGiven(value: unknown): boolean {
	return value !== undefined && value !== null;
}
