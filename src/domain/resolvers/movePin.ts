import { CorkboardError } from "../../errors.ts";
import type { Node } from "../../graph/types.ts";
import { optional, required } from "../../graphql/input/readInput.ts";
import { id } from "../../graphql/input/validators.ts";
import type { Id } from "../../id/ids.ts";
import { parseStoredId } from "../../id/ids.ts";
import { type MutationContext, mutation } from "./mutation.ts";
import {
	bothOrFirstError,
	requireOwned,
	requireVisible,
} from "./requireVisible.ts";
import { mappingOf, storedValue } from "./storedJson.ts";

/** A moved pin keeps its id, and its shard with it; only its place and its board change. */
export const movePin = mutation(
	{
		name: "movePin",
		input: {
			id: required(id),
			boardId: optional(id),
			before: optional(id),
			after: optional(id),
		},
		validateTogether: ({ before, after }) =>
			isGiven(before) && isGiven(after)
				? [
						{
							path: "before, after",
							message: "expected at most one of them but got: both",
						},
					]
				: [],
		reads: ({ before, after }) =>
			2 + (isGiven(before) || isGiven(after) ? 1 : 0),
	},
	async (input, change) => {
		const pin = await requireOwned(change, "Pin", input.id);
		const target = input.boardId ?? boardOf(pin, change);
		const side = isGiven(input.before) ? "before" : "after";
		const beside = input[side] ?? null;
		const [board, neighbour] = await bothOrFirstError(
			requireOwned(change, "Board", target),
			beside === null
				? Promise.resolve(null)
				: requireVisible(change, "Pin", beside),
		);
		if (neighbour && boardOf(neighbour, change) !== board.id) {
			throw new CorkboardError(
				"BAD_USER_INPUT",
				`movePin: ${side}: expected a pin of the target board but got one of another.`,
			);
		}
		// Beside itself is where it is.
		if (neighbour?.id !== pin.id) {
			await change.writes.move({
				mapping: mappingOf(change.graph.model, "placePin"),
				object: pin.id,
				from: board.id,
				...(neighbour ? { [side]: neighbour.id } : {}),
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
