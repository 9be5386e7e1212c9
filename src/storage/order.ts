import type { Mapping } from "../model/types.ts";
import type { Position } from "./storage.ts";

/**
 * Whether a list runs from high sequences to low ones. Lists in order of
 * POSITION do too: a new edge gets the highest sequence and comes first.
 */
export function isDescending(mapping: Mapping): boolean {
	return mapping.order !== "OLDEST_FIRST";
}

/** Distance between neighbors after a list is renumbered or imported: room for that many edges between them. */
export const SEQUENCE_GAP = 1_000;

/**
 * New sequences for a list that has no gap where one is needed: the order
 * stays, neighbors are at least SPACING apart, and an edge that has room
 * enough below it keeps its own, because a sequence is also a moment. Takes
 * positions from low to high and gives the sequences in that order.
 */
export function renumberedSequences(
	positions: readonly Position[],
): readonly number[] {
	let last = 0;
	return positions.map(({ sequence }) => {
		last = Math.max(sequence, last + SEQUENCE_GAP);
		return last;
	});
}
