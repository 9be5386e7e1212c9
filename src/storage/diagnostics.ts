import { channelOf, Levels } from "../diagnostics.ts";
import type { RetryReason, Statement } from "../trace.ts";

export const STORAGE_CHANNELS = {
	/** One call of the storage port. */
	storage: channelOf<StorageCall>("corkboard.storage"),
	/** One statement on one host. */
	statement: channelOf<Statement>("corkboard.statement"),
	/** A statement or transaction was rolled back and starts again. */
	writeRetry: channelOf<WriteRetry>("corkboard.writeRetry"),
	/** A caller had to wait for a connection. */
	poolWait: channelOf<PoolWait>("corkboard.poolWait"),
	/** Calls of one database host that failed. */
	databaseFailure: channelOf<DatabaseFailure>("corkboard.databaseFailure"),
	/** The name of a database host leads to another server, or to one that takes no writes any more. */
	databaseServer: channelOf<DatabaseServer>("corkboard.databaseServer"),
	/** Another process found this server behind a host's name. */
	foundElsewhere: channelOf<FoundElsewhere>("corkboard.foundElsewhere"),
	/** A database host acknowledged a transaction of this process. */
	acknowledgedCommit: channelOf<AcknowledgedCommit>(
		"corkboard.acknowledgedCommit",
	),
	/** A pair of a primary and its standby did something about a read. */
	standby: channelOf<StandbyEvent>("corkboard.standby"),
	/** Shards that the topology opens, but that lack tables. */
	heldShards: channelOf<HeldShards>("corkboard.heldShards"),
};

/** Every topology in use has pools for its hosts, also before they are first called. */
export const POOL_LEVELS = new Levels<PoolLevel>();

/** The pairs of a primary and its standby. */
export const STANDBY_STATES = new Levels<StandbyState>();

/** The table caches of the hosts of each topology in use: the answer comes soon and is no error. */
export const TABLE_CACHE_LEVELS = new Levels<
	Promise<readonly TableCacheLevel[]>
>();

export interface TableCacheLevel {
	readonly host: string;
	/** Tables that it closed for want of room, since it was started. */
	readonly overflows: number;
}

interface PoolLevel {
	readonly host: string;
	readonly purpose: string;
	readonly used: number;
	readonly idle: number;
	/** Callers. */
	readonly waiting: number;
}

export interface StorageCall {
	readonly verb: string;
	/** Number of keys in the call. */
	readonly keys: number;
}

export interface WriteRetry {
	readonly host: string;
	readonly reason: Exclude<RetryReason, "shared">;
}

export function publishRetry(retry: WriteRetry): void {
	if (STORAGE_CHANNELS.writeRetry.hasSubscribers)
		STORAGE_CHANNELS.writeRetry.publish(retry);
}

export interface AcknowledgedCommit {
	readonly host: string;
	/** As the server sends it with its answer: `UUID:NUMBER`. */
	readonly gtid: string;
	/** What it wrote, as names of objects and edges; empty if that is not known. */
	readonly wrote: readonly string[];
}

export interface PoolWait {
	readonly host: string;
	readonly purpose: string;
	readonly ms: number;
	/** Whether it was given one. */
	readonly ok: boolean;
}

export interface DatabaseFailure {
	readonly host: string;
	/** The kind of the `StorageFailure`. */
	readonly kind: string;
}

export interface DatabaseServer {
	/** `host:port` */
	readonly host: string;
	/** As servers name themselves: MySQL's `server_uuid`. */
	readonly server: string;
	readonly before: string;
	readonly takesWrites: boolean;
}

interface FoundElsewhere {
	/** `host:port` */
	readonly host: string;
	readonly server: string;
}

export interface HeldShards {
	/**
	 * - `held`: new objects are not created there, because tables are `missing`,
	 *   or because that is not known (`error`).
	 * - `open`: they have their tables now.
	 */
	readonly state: "held" | "open";
	readonly shards: readonly number[];
	readonly missing: readonly string[];
	readonly error?: unknown;
}

export interface StandbyEvent {
	/** The primary, `host:port`. */
	readonly host: string;
	readonly standby: string;
	/**
	 * - `hedge`: the standby was asked because the primary was late; `overBudget`: it was not, because too many were.
	 * - `cancelled`: the slower of two calls was ended.
	 * - `served`: its answer was used, and was `lagMs` behind the primary.
	 * - `refused`: its answer was not used, for `reason` (`old`, `behindReader`).
	 * - `standbyAnswer`, `standbyRefused`: the same for each call, whatever the reason.
	 * - `mirror`: it was asked to keep it warm. `probe`: the primary was asked whether it is well again.
	 * - `switchToStandby`, `switchToPrimary`: all reads go there from now on, for `reason`.
	 */
	readonly event: string;
	readonly reason?: string | undefined;
	readonly lagMs?: number;
}

/** How a pair of a primary and its standby is used now, by this process. */
export interface StandbyState {
	readonly host: string;
	readonly standby: string;
	readonly isSwitched: boolean;
	/** After which the standby is asked. */
	readonly delayMs: number;
	/** How far the standby is behind; null while that is not known. */
	readonly lagMs: number | null;
}
