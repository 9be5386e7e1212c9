import type { Config } from "../config.ts";
import { embeddedTopology } from "../topology/embedded.ts";
import { readTopology } from "../topology/file.ts";
import type { Topology } from "../topology/types.ts";

/** The shard map that the settings ask for. */
export function topologyOf({ store }: Config): Topology {
	return store.kind === "embedded"
		? embeddedTopology(store.folder)
		: readTopology(store.file);
}
