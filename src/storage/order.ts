import type { Mapping } from "../model/types.ts";

/**
 * Whether a list runs from high sequences to low ones. Lists in order of
 * POSITION do too: a new edge gets the highest sequence and comes first.
 */
export function isDescending(mapping: Mapping): boolean {
	return mapping.order !== "OLDEST_FIRST";
}
