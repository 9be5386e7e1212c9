import { channelOf, Levels } from "../diagnostics.ts";

export const TOPOLOGY_CHANNELS = {
	/** The topology was loaded or rejected, or its store was lost. */
	topology: channelOf<TopologyEvent>("corkboard.topology"),
	/** A database host stopped answering, or answers again. */
	databaseHost: channelOf<DatabaseHost>("corkboard.databaseHost"),
	/** A new connection has said what time it is. */
	databaseClock: channelOf<DatabaseClock>("corkboard.databaseClock"),
	/** Writes to a host have stopped because a failover lost what was acknowledged, or may continue. */
	databaseLoss: channelOf<DatabaseLoss>("corkboard.databaseLoss"),
	/** A stream of changes has given some out. */
	changesGiven: channelOf<ChangesGiven>("corkboard.changesGiven"),
};

/** Seconds since the store's topology was last known to be the one in use. */
export const TOPOLOGY_AGES = new Levels<number>();

/** Streams of changes that this process gives out, as they stand now. */
export const CHANGES_LEVELS = new Levels<Promise<readonly ChangesLevel[]>>();

/** How far a stream of changes is on one server, all of whose shards come from one log. */
export interface ChangesLevel {
	/** `host:port` */
	readonly host: string;
	/** For how long the oldest commit may have waited that was not given out; 0: all was. Milliseconds. */
	readonly lagMs: number;
}

/** Some changes were given out, and the position behind them was kept. */
interface ChangesGiven {
	readonly changes: number;
}

export interface DatabaseHost {
	/** `host:port` */
	readonly host: string;
	/** `left`: it was down, and its connections are closed for good. Another version of the topology may have it still. */
	readonly state: "down" | "up" | "left";
	readonly error?: unknown;
}

/** How far a server's clock is before (negative: behind) that of this process, in milliseconds: between these two. */
interface DatabaseClock {
	/** `host:port` */
	readonly host: string;
	readonly least: number;
	readonly most: number;
}

export interface DatabaseLoss {
	/** `host:port` */
	readonly host: string;
	readonly state: "stopped" | "over";
	readonly server?: string;
	/** As a set of GTIDs; null: the server has none. */
	readonly missing?: string | null;
	readonly reason?: string;
}

export interface TopologyEvent {
	/** The store: a file, or `zk://host:port/path`. */
	readonly path: string;
	/**
	 * - `loaded`: it is in use.
	 * - `rejected`: it is not in use, because of `error`; `version` stays in use.
	 * - `unreachable`: the store does not answer; `version` stays in use. `loaded` follows when it does.
	 * - `copyFailed`: `version` is in use, but its copy for the next start could not be written.
	 */
	readonly state: "loaded" | "rejected" | "unreachable" | "copyFailed";
	/** The version in use. */
	readonly version: number;
	readonly error?: unknown;
}
