import type { CorkboardError } from "../errors.ts";
import type { Id } from "../id/ids.ts";
import type { Mapping } from "../model/types.ts";
import type { CallOptions, WriteTrace } from "../trace.ts";
import type { Deadline } from "../util/deadline.ts";
import type { JsonObject } from "../util/json.ts";
import type { HostReport } from "./hostReport.ts";

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
	lookups: { of: [modShard: number]; row: LookupRow };
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

	/** Of every primary that says, what it is set for: `settingProblems` says what is too small. */
	settings(): Promise<readonly Pick<HostReport, "host" | "settings">[]>;

	/**
	 * What `createTables` would create or change, as `db00003.pins` for a table
	 * and `db00003.outbox.attempts` for a column: of these shards, or of all shards
	 * and mod shards. Rejects if a shard does not answer.
	 */
	missingTables(shards?: readonly number[]): Promise<readonly string[]>;

	/** All tables of all shards and mod shards, as `db00003.pins`, whether they are there or not. */
	tables(): readonly string[];

	/**
	 * Create missing tables on every shard, and bring tables of earlier versions up
	 * to date: their rows stay. Repeating it changes nothing.
	 */
	createTables(
		progress?: (done: number, total: number) => void,
		/** The first local id of tables that are created, by `db00003.pins` (default: 1). */
		firstIds?: ReadonlyMap<string, number>,
	): Promise<void>;

	/**
	 * How many outboxes of an earlier version are in the databases of shards.
	 * `drop`: they are dropped, and what they hold is kept. A process of that
	 * version can no longer write then.
	 */
	formerOutboxes(drop: boolean): Promise<number>;
}

/** Storage as it was opened. */
export interface OpenedStorage extends Storage {
	readonly admin: StorageAdmin;
}

/** The result for one key. */
export type KeyResult<T> = T | CorkboardError;

export interface StoredObject {
	readonly id: Id;
	/** JSON text. */
	readonly data: string;
}

export const PRESENT = 0;
export const REMOVED = 1;
export type EdgeState = typeof PRESENT | typeof REMOVED;

export interface ListKey {
	readonly mapping: Mapping;
	readonly from: Id;
}

export interface EdgeKey extends ListKey {
	readonly to: Id;
}

/** An edge by its position. */
export interface EdgePosition extends ListKey {
	readonly at: Position;
}

export interface RenumberingKey extends ListKey {
	/** An epoch. */
	readonly since: number;
}

export interface Edge {
	readonly from: Id;
	readonly to: Id;
	/** Below 2^53. In lists ordered by time: microseconds since 1970. */
	readonly sequence: number;
	readonly state: EdgeState;
	/** Rises by one with every change at the source. */
	readonly version: number;
}

/** A list's own row. Transactions lock it before they change the list's edges. */
export interface ListRow {
	readonly from: Id;
	/** Present edges. */
	readonly count: number;
	readonly lastSequence: number;
	/** Rises by one when the list is renumbered. */
	readonly epoch: number;
}

export interface LongestKey {
	readonly mapping: Mapping;
	/** Of the owners. */
	readonly shard: number;
	readonly limit: number;
}

/** The owner of a list, and its number of present edges. */
export type ListLength = Pick<ListRow, "from" | "count">;

/** A list's row, all zeros if it has none, and what its edges come to. */
export interface ListCount extends ListRow {
	/** Present edges. */
	readonly edges: number;
	/** The highest sequence of a present edge; 0 without one. */
	readonly highest: number;
	/** The epoch of the newest renumbering stored, which is the list's; 0 without one. */
	readonly newestEpoch: number;
}

/** A position in a list, with or without an edge. It means something in one epoch of the list only. */
export interface Position {
	readonly sequence: number;
	readonly to: Id;
}

/**
 * Renumbering makes room below an edge: that edge and those above it, up to the
 * next wide gap, get sequences that are greater by one shift. So one small row
 * says where every position of the list went, whatever becomes of its edges
 * (docs/consistency.md, "5. Pages").
 */
export interface Shift {
	/** The lowest and the highest edge that were shifted, at their old positions. */
	readonly low: Position;
	readonly high: Position;
	/** What was added to their sequences. */
	readonly by: number;
}

/** A renumbering of a list, as storage keeps it. */
export interface Renumbering extends Shift {
	/** The list's epoch after it. */
	readonly epoch: number;
}

export interface Scan extends ListKey {
	/** Against the mapping's order: the edges nearest the end come first. */
	readonly backward: boolean;
	/** Exclusive bounds in the mapping's order, whichever way the scan runs. */
	readonly after?: Position;
	readonly before?: Position;
	readonly limit: number;
	/**
	 * For a page that is shown: a standby may answer it, where the list's primary
	 * does not in time. Never for what a write depends on.
	 */
	readonly mayBeStale?: boolean;
}

export interface ScanResult {
	/** In the order of the scan. */
	readonly edges: readonly Edge[];
	/** All zeros for a list without a row. */
	readonly list: ListRow;
	/** A standby answered. The result is shown, and cached nowhere. */
	readonly isStale?: true;
}

export interface LookupKey {
	readonly name: string;
	/** Already normalized. */
	readonly key: string;
}

export interface LookupRow extends LookupKey {
	readonly id: Id;
	/** Distinguishes one reservation of a key from the next by the same object. */
	readonly token: string;
}

export interface LookupChange extends LookupKey {
	readonly expect: { readonly id: Id; readonly token: string } | null;
	readonly next: { readonly id: Id; readonly token: string } | null;
}

export interface Transaction<T> {
	readonly shard: number;
	/**
	 * Another shard, which has some of `lists`. Objects are on `shard`. Such a
	 * transaction is tried once: it fails as a conflict if its rows are not soon
	 * free, or if the shards are on different hosts.
	 */
	readonly beside?: number | undefined;
	/** Count rows to lock, before anything else. Storage sorts them. */
	readonly lists?: readonly ListKey[];
	/** Objects to lock and read. */
	readonly objects?: readonly Id[];
	/** Edges to read; their lists must be among `lists`. */
	readonly edges?: readonly EdgeKey[];
	/** Edges whose present neighbors in the mapping's order are wanted too; their lists must be among `lists`. */
	readonly neighbors?: readonly EdgeKey[];
	/** Objects to insert on this shard before `decide` is called. */
	readonly creates?: readonly NewObject[];
	readonly decide: (reads: TransactionReads) => TransactionWrites<T>;
	/**
	 * Called beside the statements that lock and read, and awaited before `decide`:
	 * the one bounded wait for shared caches. It is called again if more than a
	 * quarter of its second is over when the changes are sent, or the transaction
	 * runs again, and must not reject. SQLite does not call it, because it has no
	 * caches that other processes share.
	 */
	readonly beforeCommit?: () => Promise<void>;
}

export interface NewObject {
	/** The type's name. */
	readonly type: string;
	readonly data: JsonObject;
}

/** What the transaction read under its locks, in the order of its keys. */
export interface TransactionReads {
	readonly lists: readonly ListRow[];
	readonly objects: readonly (JsonObject | null)[];
	readonly edges: readonly (Edge | null)[];
	readonly neighbors: readonly Neighbors[];
	readonly created: readonly Id[];
	/** The clock of this transaction, in microseconds since 1970. */
	readonly now: number;
}

export interface Neighbors {
	readonly edge: Edge | null;
	/** The present edges just before and just after it in the mapping's order. */
	readonly previous: Edge | null;
	readonly next: Edge | null;
}

export interface TransactionWrites<T> {
	/** Returned by `transact`. */
	readonly result: T;
	/** New content of objects: of those locked, or just created. */
	readonly objects?: readonly { readonly id: Id; readonly data: JsonObject }[];
	/**
	 * Edges as they are to be stored. Each was read under `edges`, or leads to an
	 * object just created. Storage updates the counts and last sequences of lists.
	 */
	readonly edges?: readonly (EdgeKey & Omit<Edge, "from" | "to">)[];
	/** Make room below these present edges, and call `decide` again. The other writes are dropped. */
	readonly renumber?: readonly EdgePosition[];
	/** Locked lists to count again from their edges. For repairs: it reads whole lists. */
	readonly recount?: readonly ListKey[];
	/** Edges whose rows are deleted for good. Each was read under `edges`, and is removed. */
	readonly purge?: readonly EdgeKey[];
	/** What is to be delivered to other shards and caches: one outbox row, committed with this transaction. */
	readonly outboxEntry?: JsonObject;
	/** One in the outbox of `beside`, for what it changed there. */
	readonly besideEntry?: JsonObject;
}

export interface TransactionResult<T> {
	readonly result: T;
	readonly outboxKey: OutboxKey | null;
	readonly besideKey?: OutboxKey | null;
}

export interface OutboxKey {
	readonly shard: number;
	/** Given once in its outbox. */
	readonly local: number;
}

export interface StoredEntry extends OutboxKey {
	/** Null where the stored text is not a JSON object. Other entries of the outbox are read all the same. */
	readonly entry: JsonObject | null;
}

/** An outbox row as it was written. */
export interface OutboxRow extends StoredEntry {
	readonly entry: JsonObject;
}

/** An outbox row as stored, with the state of its delivery. */
export interface PendingEntry extends StoredEntry {
	/** Microseconds since 1970. */
	readonly writtenAt: number;
	/** Failed deliveries so far, without those that gave the entry back. */
	readonly attempts: number;
	/** Microseconds since 1970; 0 for an entry to deliver at once. */
	readonly nextAttemptAt: number;
	/** Why the last delivery failed; null before the first failure. */
	readonly lastError: string | null;
}

export interface PendingEntriesQuery {
	/** Only entries written at least this long ago. */
	readonly olderThanMs: number;
	/** Entries of each outbox at most. */
	readonly limit: number;
	/** Also entries whose next attempt is not due yet. */
	readonly includeDelayed?: boolean;
	/** Entries already read: each outbox continues after the last of its own. */
	readonly after?: readonly OutboxPosition[];
	/** Whether only those outboxes are read that have an entry in `after`. */
	readonly continues?: boolean;
}

/** Where the entries of a host's shards are, feed databases (./feedShards.ts) among them: a table beside their databases. Embedded, each file has its own. */
export interface Outbox {
	readonly host: string;
	readonly shards: readonly [number, ...number[]];
}

/** Null: not asked for. */
export interface OutboxLook {
	readonly outbox: Outbox;
	/** Entries that no process has ever taken, due or not, in order of insertion. */
	readonly untaken: {
		/** The local id of the last entry that was read; 0 for none. */
		readonly after: number;
		readonly limit: number;
	} | null;
	/** As of `pendingEntries`. */
	readonly due: DueEntries | null;
}

export interface DueEntries
	extends Pick<
		PendingEntriesQuery,
		"olderThanMs" | "limit" | "includeDelayed"
	> {
	/** The last entry that was read. */
	readonly after?: OutboxPosition | undefined;
}

export interface SeenEntries {
	readonly untaken: readonly OutboxKey[];
	readonly due: readonly PendingEntry[];
}

/** How much is in one outbox. */
export interface OutboxSize {
	/** At most as many as were to be counted. */
	readonly entries: number;
	/** When the oldest of these was written, in microseconds since 1970; null without one. */
	readonly oldestAt: number | null;
}

export interface OutboxSizeQuery {
	readonly outbox: Outbox;
	/** Entries are counted up to this number. */
	readonly limit: number;
}

/** The position of an entry in the order of delivery. */
export type OutboxPosition = Pick<
	PendingEntry,
	"shard" | "nextAttemptAt" | "local"
>;

/** A failed delivery adds one to the entry's `attempts`, unless it gave the entry back. */
export interface FailedDelivery extends OutboxKey {
	/** Whether the failure is that of the process, which did not reach a host: the entry is left to others, and did not fail itself. */
	readonly isGivenBack?: boolean;
	/** The `nextAttemptAt` that the entry must still have: until when it was taken. */
	readonly takenUntil: number;
	/** The entry without the parts that were delivered; all of it if absent. */
	readonly remaining?: JsonObject | undefined;
	/** Microseconds since 1970. */
	readonly nextAttemptAt: number;
	/** Stored as `lastError`, cut to 255 characters. */
	readonly error: string;
}
