import { checkTopology } from "./check.ts";
import type { Topology } from "./types.ts";

/** All shards and all lookups in one folder: what runs where nobody gave a topology. */
export function embeddedTopology(folder: string, shards = 16): Topology {
	const range = [0, shards - 1];
	const primary = `sqlite:${folder}`;
	return checkTopology({
		version: 1,
		shards: [{ range, primary, open: true }],
		lookups: [{ range, primary }],
	});
}
