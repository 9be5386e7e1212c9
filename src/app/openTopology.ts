import type { Config } from "../config/config.ts";
import type { CorkboardError } from "../errors.ts";
import { embeddedTopology } from "../topology/embeddedTopology.ts";
import { parseHostUrl } from "../topology/hostUrl.ts";
import { readTopology } from "../topology/parseTopology.ts";
import { openTopologyFile } from "../topology/topologyFile.ts";
import type { Topology } from "../topology/types.ts";

/** The topology a process starts with, and where its later versions come from. */
export interface TopologySource extends AsyncDisposable {
	/** The version in use. */
	readonly topology: Topology;
	/** Why the version in use is not the file's; null where it is. */
	readonly problem: CorkboardError | null;
	/** From now on calls `onChange` with each newer version. */
	follow(onChange: (topology: Topology) => Promise<void>): void;
}

/** Reads the topology once, for the whole process: the file's, or its kept copy where the file cannot be used. */
export function openTopology(config: Config): TopologySource {
	const { store } = config;
	return store.kind === "topology"
		? openTopologyFile(store.file, { keptCopy: `${store.file}.kept` })
		: fixedTopology(embeddedTopology(store.folder));
}

/** A topology that never changes. */
export function fixedTopology(topology: Topology): TopologySource {
	return {
		topology,
		problem: null,
		follow() {},
		async [Symbol.asyncDispose]() {},
	};
}

/** The topology as it is configured now. Throws where the file cannot be used, whatever its kept copy holds: for commands that check it. */
export function readConfiguredTopology({ store }: Config): Topology {
	return store.kind === "embedded"
		? embeddedTopology(store.folder)
		: readTopology(store.file);
}

/** The SQLite folders of a topology. */
export function dataFoldersOf({
	shards,
	lookups,
}: Topology): ReadonlySet<string> {
	return new Set(
		[...shards, ...lookups].flatMap(({ primary }) => {
			const url = parseHostUrl(primary);
			return url?.scheme === "sqlite" ? [url.folder] : [];
		}),
	);
}
