import type { PlacementOf } from "corkboard";
import type { Schema } from "./typed.ts";

/**
 * A board is created on its user's shard, a section or a pin on its board's,
 * a comment on its pin's: one statement then reads them together. Users spread over the open
 * shards. An interest lies where its slug says.
 */
export const placementPolicy: PlacementOf<Schema> = {
	Board: { colocateWith: "owner" },
	Pin: { colocateWith: "board" },
	Interest: { modShardOf: "slug" },
};
