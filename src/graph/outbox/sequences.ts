import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { comparePositions, SEQUENCE_GAP } from "../../storage/renumbering.ts";
import type { Neighbors, Position } from "../../storage/rows.ts";

/** A sequence, or the edge below which the list has to make room first. */
export type NewSequence = number | { readonly noRoomBelow: Position };

/**
 * The sequence of a new edge: after all others, and the time in microseconds
 * unless the clock has stepped back. Taken under the list's lock, so that list
 * order is commit order (docs/consistency.md "1. Lists and counts").
 */
export function nextSequence(last: number, now: number): number {
	return Math.max(last + 1, now);
}

/**
 * A sequence beside a neighbor. Two edges may share a sequence, but a third
 * cannot be put between those, so a gap is at least two.
 */
export function sequenceBetween(
	mapping: Mapping,
	moved: Id,
	{
		edge,
		previous,
		next,
	}: Pick<Neighbors, "previous" | "next"> & { readonly edge: Position },
	afterNeighbor: boolean,
): NewSequence {
	const other = afterNeighbor ? next : previous;
	if (other?.to === moved) return other.sequence;
	const rising = mapping.order === "OLDEST_FIRST";
	if (other === null) {
		// The neighbor stands at an end of the list.
		return (
			edge.sequence + (afterNeighbor === rising ? SEQUENCE_GAP : -SEQUENCE_GAP)
		);
	}
	const middle = Math.floor((edge.sequence + other.sequence) / 2);
	const [low, high] =
		comparePositions(edge, other) < 0 ? [edge, other] : [other, edge];
	return middle > low.sequence && middle < high.sequence
		? middle
		: { noRoomBelow: high };
}
