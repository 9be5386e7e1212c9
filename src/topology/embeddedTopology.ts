import { checkTopology } from "./check.ts";
import type { Topology } from "./types.ts";

/** The default topology: all shards, mod shards and a queue shard in one folder. */
export function embeddedTopology(folder: string, shards = 16): Topology {
	const range = [0, shards - 1];
	const primary = `sqlite:${folder}`;
	return checkTopology({
		version: 1,
		shards: [{ range, primary, open: true }],
		lookups: [{ range, primary }],
		queues: [{ range: [0, 0], primary }],
	});
}
