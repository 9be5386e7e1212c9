import type { CorkboardError } from "../../errors.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { Source } from "../sources.ts";

/**
 * The pools: for each user the items that wait for the next look at the home feed,
 * and those that were taken or dropped lately. MySQL and SQLite implement the port
 * and pass one suite (test/suites/pools.ts). What is pushed, chosen and shown is
 * decided above it.
 *
 * A user's pool is on one shard. A picture, named by its `origin`, is in a pool
 * once, in one state. Pools can be lost: they are rebuilt from what users follow.
 *
 * Times are milliseconds since 1970, given by the caller. Repeating a call
 * changes nothing more, so a call of unknown outcome can be repeated. A failure
 * of a shard is a CorkboardError, UNAVAILABLE; misuse is a TypeError.
 */
export interface Pools extends AsyncDisposable {
	/** Numbers of the pool shards, ascending from 0; how many never changes. */
	readonly shards: readonly number[];

	/**
	 * Lets one item wait in the pools of those receivers who visited their feed after
	 * `activeSince`, at most MAX_RECEIVERS of them: one statement for each shard. If the
	 * picture is known already, in whatever state, nothing changes. The shards that failed
	 * are in the result; the others are written.
	 */
	push(
		item: PushedItem,
		receivers: readonly Receiver[],
		activeSince: number,
	): Promise<Pushed>;

	/** Lets items wait in one pool, active or not, at most MAX_ENTRIES of them; returns how many are new. */
	add(user: Id, entries: readonly PoolEntry[], now: number): Promise<number>;

	/** What is known of a user's visits; null: none. */
	visit(user: Id): Promise<Visit | null>;

	/** Writes what is given of a visit and keeps the rest. Times only rise. */
	noteVisit(user: Id, visit: Partial<Visit>): Promise<void>;

	/** The waiting items of each source, or those in another state, best first: at most so many of each. One statement. */
	best(
		user: Id,
		limits: Readonly<Partial<Record<Source, number>>>,
		state?: PoolState,
	): Promise<readonly PoolRow[]>;

	/** What the pool knows of pictures, in their order; null: nothing. At most MAX_ENTRIES. */
	find(user: Id, origins: readonly Id[]): Promise<readonly (PoolRow | null)[]>;

	/** How many items wait, at most `cap`. */
	waiting(user: Id, cap: number): Promise<number>;

	/** Items in this state that came through `via`, at most `limit`. */
	listVia(
		user: Id,
		via: Id,
		state: PoolState,
		limit: number,
	): Promise<readonly PoolRow[]>;

	/**
	 * Records what became of items: taken into the feed, or dropped for good. Those that did not
	 * wait are recorded too. A dropped item stays dropped; a taken one can still be dropped.
	 */
	settle(user: Id, settled: Settled, now: number): Promise<void>;

	/**
	 * Forgets waiting items, those of these origins that came through `via`, and lets
	 * `substitutes` wait, in one transaction. Returns how many are gone.
	 */
	withdraw(
		user: Id,
		via: Id,
		origins: readonly Id[],
		substitutes: readonly PoolEntry[],
		now: number,
	): Promise<number>;

	/** Keeps the best waiting items of each source, and what was taken or dropped after `settledAfter`. Returns how many rows went. */
	trim(user: Id, keep: KeptRows): Promise<number>;

	/** Deletes a user's pool and visits. */
	forget(user: Id): Promise<void>;
}

/** Producers whose items are not pushed but read at a visit: a table of the pools' databases. */
export interface PulledStore {
	/** Producers whose items are not pushed but read at a visit; at most MAX_PULLED. */
	pulled(): Promise<readonly PulledProducer[]>;

	/** Adds or changes a pulled producer; `null` as its `since`: removes it. */
	putPulled(
		producer: Id,
		times: { readonly since: number | null; readonly pushedSince: number },
	): Promise<void>;
}

/** What only operations need of the pools. */
export interface PoolAdmin {
	/** Users from `after` on who visited after `activeSince`, ascending, of one shard. */
	activeUsers(
		shard: number,
		options: {
			readonly after: Id | null;
			readonly activeSince: number;
			readonly limit: number;
		},
	): Promise<readonly Id[]>;

	/** Sizes by shard; estimates where exact ones would read whole tables. */
	stats(): Promise<readonly (PoolShardStats | CorkboardError)[]>;

	/** Creates databases, files and tables that are missing. UNAVAILABLE or BAD_CONFIG. */
	createTables(): Promise<void>;

	/** `pool00003.pool` for each missing table. */
	missingTables(): Promise<readonly string[]>;
}

/** All that a store of pools does. Callers take the port that they use. */
export interface PoolStore extends Pools, PulledStore, PoolAdmin {}

/** The pool shard of a user, of `count` shards. */
export function poolShardOf(user: Id, count: number): number {
	return unpackId(user).shard % count;
}

/** Most receivers of a push: a page of followers. */
export const MAX_RECEIVERS = 2_000;
/** Most entries of the other calls. */
export const MAX_ENTRIES = 1_000;
/** Producers in memory of each process. */
export const MAX_PULLED = 100_000;

/**
 * - `waiting`: for a look at the feed.
 * - `taken`: into the feed; the row is the reason that the user is shown.
 * - `dropped`: hidden by the user, gone, or deferred too often.
 */
export const POOL_STATES = { waiting: 0, taken: 1, dropped: 2 } as const;
export type PoolState = keyof typeof POOL_STATES;

/** An item that waits, or may. */
export interface PoolEntry {
	readonly source: Source;
	/** An integer from 0 to 2^52 - 1 (../scores.ts); higher is better. */
	readonly score: number;
	readonly item: Id;
	/** The item it was first saved from, or itself: one picture once. */
	readonly origin: Id;
	/** The user, board or interest that the receiver follows, or the item it is related to. */
	readonly via: Id;
}

export interface PoolRow extends PoolEntry {
	readonly state: PoolState;
	/** When it came into this state. */
	readonly changedAt: number;
}

export interface PushedItem extends Omit<PoolEntry, "score"> {
	readonly now: number;
}

export interface Receiver {
	readonly user: Id;
	readonly score: number;
}

export interface Pushed {
	/** Pools that the item is new in. Of pushes at the same time all together have the right sum. */
	readonly rows: number;
	readonly failed: readonly {
		readonly shard: number;
		readonly error: CorkboardError;
	}[];
}

export interface Visit {
	/** The last look at the feed. */
	readonly visitedAt: number;
	/** When items were last added to the feed; 0: never. */
	readonly generatedAt: number;
	/** How many items were asked for then, 0 to 65,535. */
	readonly asked: number;
	/** When the pool was last rebuilt from what the user follows; 0: never. */
	readonly rebuiltAt: number;
}

export interface Settled {
	readonly taken: readonly PoolEntry[];
	readonly dropped: readonly PoolEntry[];
}

interface KeptRows {
	readonly waitingPerSource: number;
	readonly settledAfter: number;
}

export interface PulledProducer {
	readonly producer: Id;
	/** Since when its items are read at visits. */
	readonly since: number;
	/** Since when its items are pushed again, because it lost followers; 0: they are not. */
	readonly pushedSince: number;
}

export interface PoolShardStats {
	readonly shard: number;
	readonly host: string;
	/** The rows of all pools, in any state. */
	readonly rows: number;
	/** Users with a visit on record. */
	readonly users: number;
	/** On disk; 0 if it is not known. */
	readonly bytes: number;
}
