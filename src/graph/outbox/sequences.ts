import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { Neighbors } from "../../storage/storage.ts";

/** A sequence, or "no gap" where the list has to be renumbered first. */
export type NewSequence = number | "no gap";

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
	{ edge, previous, next }: Neighbors,
	afterNeighbor: boolean,
): NewSequence {
	if (edge === null) return "no gap";
	const other = afterNeighbor ? next : previous;
	if (other?.to === moved) return other.sequence;
	const rising = mapping.order === "OLDEST_FIRST";
	if (other === null) {
		// The neighbor stands at an end of the list.
		return edge.sequence + (afterNeighbor === rising ? END_GAP : -END_GAP);
	}
	const middle = Math.floor((edge.sequence + other.sequence) / 2);
	const low = Math.min(edge.sequence, other.sequence);
	const high = Math.max(edge.sequence, other.sequence);
	return middle > low && middle < high ? middle : "no gap";
}

/** As far apart as renumbering puts edges. */
const END_GAP = 1_000;
