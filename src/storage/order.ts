import { type Id, MAX_LOCAL, unpackId } from "../id/ids.ts";
import type { Mapping } from "../model/types.ts";

/**
 * Whether a list runs from high sequences to low ones. Lists in order of
 * POSITION do too: a new edge gets the highest sequence and comes first.
 */
export function isDescending(mapping: Mapping): boolean {
	return mapping.order !== "OLDEST_FIRST";
}

/** Whether a number can be that of a column: sequences, versions and epochs are integers from 0 to 2^53 - 1. */
export function isStoredNumber(value: unknown): value is number {
	return Number.isSafeInteger(value) && (value as number) >= 0;
}

/**
 * The sequence of all edges of one group of a list: the id that they have in
 * common, without its type, which is that of the reference. So it takes 52 bits,
 * and no two groups share one.
 */
export function sequenceOfGroup(group: Id): number {
	const { shard, local } = unpackId(group);
	return shard * (MAX_LOCAL + 1) + local;
}
