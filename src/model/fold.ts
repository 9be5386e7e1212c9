import type { Lookup } from "./types.ts";

/** A natural key as it stands in the lookup's row and is compared: "Ada" and "ada" are one username. */
export function normalizeKey(lookup: Lookup, value: string): string {
	return lookup.fold === "CASE" ? value.toLowerCase() : value;
}
