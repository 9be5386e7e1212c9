import type { Node } from "../graph/types.ts";
import { optional } from "../graphql/input/readInput.ts";
import { type InputId, id } from "../graphql/input/validators.ts";
import type { ValidationProblem } from "../model/validation.ts";
import { invalidField, type MutationContext } from "./mutation.ts";
import { requireVisible } from "./requireVisible.ts";

/** A position that a client asks for, beside an object of a type, by two fields of an input: `beforePinId`, `afterPinId`. */
export function positionInput(type: string) {
	const before = `before${type}Id`;
	const after = `after${type}Id`;
	const isAsked = (given: Readonly<Record<string, unknown>>) =>
		isGiven(given[before]) || isGiven(given[after]);
	return {
		fields: { [before]: optional(id), [after]: optional(id) },
		/** The cost of the neighbor. */
		cost: (given: Readonly<Record<string, unknown>>) =>
			isAsked(given) ? 1 : 0,
		problems: (
			given: Readonly<Record<string, unknown>>,
		): readonly ValidationProblem[] =>
			isGiven(given[before]) && isGiven(given[after])
				? [
						{
							path: after,
							message: `must not be given beside ${before}`,
						},
					]
				: [],
		/** The neighbor, if one is asked for: NOT_FOUND unless the viewer may see it. */
		async neighbor(
			input: Readonly<Record<string, InputId | null | undefined>>,
			context: MutationContext,
		): Promise<Neighbor | null> {
			for (const [side, argument] of [
				["before", before],
				["after", after],
			] as const) {
				const given = input[argument] ?? null;
				if (given === null) continue;
				const node = await requireVisible(context, type, given);
				return { side, argument, node };
			}
			return null;
		},
	};
}

interface Neighbor {
	readonly side: "before" | "after";
	/** The field of the input that names it. */
	readonly argument: string;
	readonly node: Node;
}

/** Refuses a neighbor that is not on the list: `list` says of what. */
export function requireOnList(
	mutation: string,
	neighbor: Neighbor | null,
	isOnList: (node: Node) => boolean,
	list: string,
): void {
	if (neighbor === null || isOnList(neighbor.node)) return;
	throw invalidField(
		mutation,
		neighbor.argument,
		`be ${list}`,
		"Choose a position in the list that you are in.",
	);
}

export function isGiven(value: unknown): boolean {
	return value !== undefined && value !== null;
}
