import type { Id } from "../id/ids.ts";
import type { Mapping } from "../model/types.ts";
import type { CallOptions, WriteTrace } from "../trace.ts";
import type { Deadline } from "../util/deadline.ts";
import type { HostReport } from "./hostReport.ts";
import type {
	Edge,
	EdgeKey,
	FailedDelivery,
	KeyResult,
	ListCount,
	ListKey,
	ListLength,
	ListRow,
	LongestKey,
	LookupChange,
	LookupKey,
	LookupRow,
	Outbox,
	OutboxKey,
	OutboxLook,
	OutboxPosition,
	OutboxSize,
	OutboxSizeQuery,
	PendingEntriesQuery,
	PendingEntry,
	Renumbering,
	RenumberingKey,
	Scan,
	ScanResult,
	SeenEntries,
	StoredEntry,
	StoredObject,
	Transaction,
	TransactionResult,
} from "./rows.ts";

/**
 * The storage port: the only way to the shards. Reads take many keys at a time
 * and return one result per key, in the order of the keys. A host that is down
 * makes the results of its own keys errors, and no others. A caller may not
 * assume that two keys of one call were read at the same moment. Reads go
 * to primaries, but for scans that say `mayBeStale`. Writes take no signal: a write that has started is finished
 * even if nobody waits for it.
 *
 * Every failure of a shard is a CorkboardError made by `toStorageError` of the
 * `StorageFailure` that the driver threw: UNAVAILABLE, or INTERNAL for a row
 * that breaks a rule of its table. Misuse is a TypeError.
 */
export interface Storage extends AsyncDisposable {
	/** Which shards there are and where they live. Take it anew for each use: it is that of the version on which new calls start. */
	readonly map: StorageMap;

	/** One result for each key, in the order of the keys. */
	read<K extends ReadKind>(
		kind: K,
		keys: readonly ReadKey<K>[],
		call?: CallOptions,
	): Promise<readonly KeyResult<ReadResult<K>>[]>;

	/**
	 * One transaction on one shard, or on two of one host. It names what it locks beforehand. `decide`
	 * is synchronous, has no side effects and may be called again, after a
	 * deadlock or for a renumbered list. docs/consistency.md, 1. Lists and counts
	 * and 2. Writes and the outbox.
	 */
	transact<T>(
		transaction: Transaction<T>,
		trace?: WriteTrace,
	): Promise<TransactionResult<T>>;

	/**
	 * Change lookup rows, each by compare-and-set. `expect: null` inserts;
	 * `next: null` deletes. Returns each key's row afterwards, so that the caller
	 * sees whether it is its own. docs/consistency.md, 4. Reservations.
	 */
	compareAndSetLookups(
		changes: readonly LookupChange[],
		trace?: WriteTrace,
	): Promise<readonly KeyResult<LookupRow | null>[]>;

	/**
	 * Due outbox entries, oldest first. Each outbox returns its entries in
	 * order of next attempt, then of insertion. One that does not answer is left out.
	 */
	pendingEntries(query: PendingEntriesQuery): Promise<readonly PendingEntry[]>;

	/**
	 * Take entries to deliver them: their next attempt moves to `until`, so that no
	 * other process reads them before. Each is compared and set: an entry that was
	 * taken, postponed or deleted since it was read is not taken. Returns those that
	 * were; of a shard that does not answer, none.
	 */
	takeEntries(
		entries: readonly OutboxPosition[],
		/** Microseconds since 1970. */
		until: number,
		trace?: WriteTrace,
	): Promise<readonly OutboxKey[]>;

	/** Record failed deliveries, with one statement for up to 500 entries of an outbox. An entry that another process took since is left. */
	recordFailedDeliveries(
		failures: readonly FailedDelivery[],
		trace?: WriteTrace,
	): Promise<void>;

	/** Delete entries that were delivered; those already deleted are ignored. */
	deleteOutboxEntries(
		keys: readonly OutboxKey[],
		trace?: WriteTrace,
	): Promise<void>;

	/** Iterate over all rows of a table in key order, in batches, for `verify`. Not a snapshot. */
	walk<K extends WalkKind>(
		kind: K,
		...of: WalkOf<K>
	): AsyncIterable<readonly WalkRow<K>[]>;
}

/** What can be read: the keys of each kind, and the result for one. */
export interface Reads {
	/** The stored JSON text of an object, also of a deleted one; null without a row, type or shard. */
	objects: { key: Id; result: string | null };
	/**
	 * Present edges of a list in the order of the scan, and the list's own row.
	 * Both are read at one moment, so that the edges are of the row's epoch.
	 */
	lists: { key: Scan; result: ScanResult };
	/** A single edge, present or removed. */
	edges: { key: EdgeKey; result: Edge | null };
	/**
	 * The renumberings of a list that made epochs greater than `since`, oldest
	 * first. Only the newest KEPT_RENUMBERINGS of a list are stored.
	 */
	renumberings: { key: RenumberingKey; result: readonly Renumbering[] };
	/**
	 * A list's own row with the number of its present edges, counted in the
	 * same statement: a writer between the two readings is never seen. For
	 * `verify`: it reads whole lists.
	 */
	counts: { key: ListKey; result: ListCount };
	/**
	 * The lists of a mapping that have the most present edges, of one shard: at
	 * most `limit`, the longest first, none that is empty. It reads the rows of all
	 * lists of the mapping's owners on the shard, so its result is to be kept.
	 */
	longestLists: { key: LongestKey; result: readonly ListLength[] };
	lookups: { key: LookupKey; result: LookupRow | null };
	/** An outbox entry as it is now; null for one that was deleted. */
	entries: { key: OutboxKey; result: StoredEntry | null };
	/** What is to be done with the entries of an outbox, read by one statement. */
	outboxes: { key: OutboxLook; result: SeenEntries };
	/** How much is in an outbox. */
	outboxSizes: { key: OutboxSizeQuery; result: OutboxSize };
}

export type ReadKind = keyof Reads;
export type ReadKey<K extends ReadKind> = Reads[K]["key"];
export type ReadResult<K extends ReadKind> = Reads[K]["result"];

/** The tables that can be walked: what names one of them, and its rows. */
export interface Walks {
	objects: { of: [shard: number, type: string]; row: StoredObject };
	/** `after`: where another walk ended. */
	edges: {
		of: [shard: number, mapping: Mapping, after?: Pick<Edge, "from" | "to">];
		row: Edge;
	};
	lists: { of: [shard: number, mapping: Mapping, after?: Id]; row: ListRow };
	/** All entries of these shards, due or not, in order of insertion. They have one outbox. */
	outbox: { of: [...shards: [number, ...number[]]]; row: PendingEntry };
	/** `name`: only the rows of this lookup. */
	lookups: { of: [modShard: number, name?: string]; row: LookupRow };
}

export type WalkKind = keyof Walks;
export type WalkOf<K extends WalkKind> = Walks[K]["of"];
export type WalkRow<K extends WalkKind> = Walks[K]["row"];

/** The shards of one version of a topology. Nothing here reads from one. */
export interface StorageMap {
	/** Shards with objects and mappings, shards open for new users, and the number of mod shards. */
	readonly shards: readonly number[];
	readonly openShards: readonly number[];
	readonly modShards: number;
	/** How many new objects an open shard takes beside one of weight 1. */
	weightOf(shard: number): number;
	/** One of each host, or of each file. */
	readonly outboxes: readonly Outbox[];
	/** The shard of storage that holds the lists of a mapping whose owners are on `shard`: that one, or its feed database. */
	shardOfLists(mapping: Mapping, shard: number): number;
	/** Whether the pages of a list come from a standby now, because its primary does not answer: then a write would wait in vain. */
	isOnStandby(list: ListKey): boolean;
	/**
	 * Whether one transaction can change these lists of both shards, the second as its
	 * `beside`: they are on one host, and nothing in this process waits for the lists.
	 * It may be otherwise when the transaction comes: then it fails as a conflict.
	 */
	canTransactOnBoth(
		shard: number,
		beside: number,
		lists: readonly ListKey[],
	): boolean;
	/** Whether no other process writes to these shards while this one does. */
	readonly hasSingleWriter: boolean;
	/** The host a shard lives on, as explain and `id` print it; null for a shard no range covers. */
	hostOf(shard: number): string | null;
	hostOfModShard(modShard: number): string | null;
}

/** What operations do with shards, beside the port that serves requests. */
export interface StorageAdmin {
	/** Every host as it answers now, replicas too, in time (without a deadline: within some seconds). `hostProblems` says what is wrong. */
	inspectHosts(deadline?: Deadline): Promise<readonly HostReport[]>;

	/** What every primary that answers is set for: `settingProblems` says what is too small. */
	settings(): Promise<readonly Pick<HostReport, "host" | "settings">[]>;

	/**
	 * What `createTables` would create or change, as `db00003.pins` for a table
	 * and `db00003.outbox.attempts` for a column: of these shards, or of all shards
	 * and mod shards. Rejects if a shard does not answer.
	 */
	missingTables(shards?: readonly number[]): Promise<readonly string[]>;

	/** All tables of all shards and mod shards, as `db00003.pins`, whether they are there or not. */
	tables(): readonly string[];

	/** Creates missing tables on every shard. Repeating it changes nothing. */
	createTables(
		progress?: (done: number, total: number) => void,
		/** The first local id of tables that are created, by `db00003.pins` (default: 1). */
		firstIds?: ReadonlyMap<string, number>,
	): Promise<void>;
}

/** Storage as it was opened. */
export interface OpenedStorage extends Storage {
	readonly admin: StorageAdmin;
}
