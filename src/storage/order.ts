import type { Mapping } from "../model/types.ts";
import type { Position } from "./storage.ts";

/**
 * Whether a list runs from high sequences to low ones. Lists ordered by
 * POSITION do, as those that begin with the newest: a new pin gets the highest
 * sequence and stands on top.
 */
export function isDescending(mapping: Mapping): boolean {
	return mapping.order !== "OLDEST_FIRST";
}

/** Room for that many edges between two neighbours after a list was renumbered; imports leave as much. */
export const SEQUENCE_GAP = 1_000;

/**
 * New sequences for a list that has no gap where one is needed: the order
 * stays, neighbours are at least SPACING apart, and an edge that has room
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
