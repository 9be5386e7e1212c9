import type { CorkboardError } from "../errors.ts";
import type { Id } from "../id/ids.ts";
import type { Mapping } from "../model/types.ts";
import type { JsonObject } from "../util/json.ts";

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
	/** The shard of the owners. */
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
	 * For a page that is shown: a standby may answer it, if the list's primary
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
	readonly creates?: readonly ObjectToCreate[];
	readonly decide: (reads: TransactionReads) => TransactionWrites<T>;
}

export interface ObjectToCreate {
	/** The type's name. */
	readonly type: string;
	readonly data: JsonObject;
	/** The id of its row, for an object that had it before (salvage): absent, the table gives one. */
	readonly local?: number;
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
	/** The rows of the lists whose edges it wrote, as committed. None of a transaction that recounts. */
	readonly lists: readonly (ListRow & ListKey)[];
	readonly outboxKey: OutboxKey | null;
	readonly besideKey?: OutboxKey | null;
}

export interface OutboxKey {
	readonly shard: number;
	/** Given once in its outbox. */
	readonly local: number;
}

export interface StoredEntry extends OutboxKey {
	/** Null if the stored text is not a JSON object. Other entries of the outbox are read all the same. */
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
	/** Whether `next` is. */
	readonly next?: boolean;
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
	/**
	 * Greater than the local id of every entry that was inserted before the question,
	 * committed or not; null if it was not asked for, or no server counts them.
	 */
	readonly next: number | null;
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
