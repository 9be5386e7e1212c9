/** Which host holds which shards: the content of the topology file. */
export interface Topology {
	readonly version: number;
	/** Ranges of shards that hold objects and mappings, lowest first, without overlap. */
	readonly shards: readonly ShardRange[];
	/** Ranges of mod shards, which hold lookups, lowest first. They cover 0 to N - 1 without gaps; N never changes. */
	readonly lookups: readonly HostRange[];
	/** Ranges of queue shards, which hold jobs, lowest first, without overlap. Numbers between may be missing. None: there are no queues, but of an embedded folder. */
	readonly queues?: readonly QueueRange[];
	/** Ranges of shards whose feed lists are in databases of their own, lowest first, without overlap; those of other shards are with the rest of their shard. */
	readonly feeds?: readonly FeedRange[];
	/** Ranges of pool shards, which hold what waits for home feeds, lowest first. They cover 0 to P - 1 without gaps; P is a power of two and never changes. None: there are no home feeds, but of an embedded folder. */
	readonly pools?: readonly HostRange[];
	/** The servers of shared caches. None: those that the settings name. */
	readonly caches?: FleetCaches;
}

/** Servers of shared caches, each key at one of them. */
export interface CacheServers {
	/** `memcached://HOST:PORT`, for objects; none: these are in no shared cache. */
	readonly objects: readonly string[];
	/** `redis://HOST:PORT`, for heads of lists, invalidations and whatever else processes share. */
	readonly lists: readonly string[];
	/** In which version a server last joined or left, by `scheme://host:port`. Part of the names of keys, so that a key that comes back to a server finds nothing old there. */
	readonly changed?: Readonly<Record<string, number>>;
}

export interface FleetCaches extends CacheServers {
	/** While the lists change: what they will be. */
	readonly next?: CacheServers;
}

export interface HostRange {
	/** First and last shard, both included. */
	readonly range: readonly [number, number];
	/** Where reads and writes go: `sqlite:FOLDER`, or `mysql://USER:PASSWORD@HOST:PORT`, which is never printed with its password. */
	readonly primary: string;
	readonly replica?: string;
}

export interface ShardRange extends HostRange {
	/** Whether new users may be created here. */
	readonly open: boolean;
	/** How many new users each shard gets beside a shard of weight 1, which is the default. */
	readonly weight?: number;
	/** Part of every shared cache key of these shards; 0 if absent. The edit that changes the primary must raise it, so that nothing cached before is read again. */
	readonly generation?: number;
}

export interface FeedRange extends HostRange {
	/** As of a shard: part of the shared cache keys of feed lists. */
	readonly generation?: number;
}

export interface QueueRange extends HostRange {
	/** Whether the shards take no new jobs. Jobs that are there are still run; an empty shard may be left out of the next version. */
	readonly drain?: boolean;
}
