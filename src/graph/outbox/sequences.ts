import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { Neighbors } from "../../storage/storage.ts";

/** A sequence, or that there is none free where it was wanted. */
export type NewSequence = number | "no gap";

/**
 * The sequence of a new edge: later than all others, and the time in
 * microseconds where the clock has not stepped back. Taken under the list's
 * lock, so that list order is commit order (PROTOCOLS §1).
 */
export function nextSequence(last: number, now: number): number {
	return Math.max(last + 1, now);
}

/**
 * A sequence beside a neighbour. Two edges may share a sequence, but a third
 * cannot be put between those, so a gap is at least two.
 */
export function sequenceBetween(
	mapping: Mapping,
	moved: Id,
	{ edge, previous, next }: Neighbors,
	afterNeighbour: boolean,
): NewSequence {
	if (edge === null) return "no gap";
	const other = afterNeighbour ? next : previous;
	if (other?.to === moved) return other.sequence;
	const rising = mapping.order === "OLDEST_FIRST";
	if (other === null) {
		// The neighbour stands at an end of the list.
		return edge.sequence + (afterNeighbour === rising ? END_GAP : -END_GAP);
	}
	const middle = Math.floor((edge.sequence + other.sequence) / 2);
	const low = Math.min(edge.sequence, other.sequence);
	const high = Math.max(edge.sequence, other.sequence);
	return middle > low && middle < high ? middle : "no gap";
}

/** As far apart as a renumbered list has its edges. */
const END_GAP = 1_000;
