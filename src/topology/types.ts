/**
 * Which host holds which shards. Plain data with a version, as it stands in the
 * topology file.
 */
export interface Topology {
	readonly version: number;
	/** Ranges of shards that hold objects and mappings, lowest first, without overlap. */
	readonly shards: readonly ShardRange[];
	/** Ranges of mod shards, which hold lookups, lowest first. They cover 0 to their number less one, fixed when the fleet was made. */
	readonly lookups: readonly HostRange[];
}

export interface HostRange {
	/** First and last shard, both included. */
	readonly range: readonly [number, number];
	/** Where reads and writes go: `sqlite:FOLDER`, or `mysql://USER:PASSWORD@HOST:PORT`, which is never printed as it is. */
	readonly primary: string;
	readonly replica?: string;
}

export interface ShardRange extends HostRange {
	/** Whether new users may be created here. */
	readonly open: boolean;
	/** Part of every shared cache key of these shards; 0 if absent. It rises in the edit that names another primary: what was cached before is not looked at again. */
	readonly generation?: number;
}
