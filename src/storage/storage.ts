import type { CallOptions, WriteTrace } from "../diagnostics.ts";
import type { CorkboardError } from "../errors.ts";
import type { Id } from "../id/ids.ts";
import type { Mapping } from "../model/types.ts";
import type { JsonObject } from "../util/json.ts";

/**
 * The one way to the shards. Reads take many keys at a time and answer in the
 * order of the keys, each key for itself: a host that is down makes its own
 * keys' answers errors (`UNAVAILABLE`) and no others. A caller may not assume
 * that two keys of one call were read at the same moment. All reads go to
 * primaries. Writes take no signal: one that was begun is not given up because
 * nobody waits for its answer any more.
 */
export interface Storage extends AsyncDisposable {
	/** The stored JSON text of each object, whatever its state; null where there is no row or no such type or shard. */
	readObjects(
		ids: readonly Id[],
		call?: CallOptions,
	): Promise<readonly KeyResult<string | null>[]>;

	/** A run of present edges of each list, in the order asked, with the list's own row. */
	scanLists(
		scans: readonly Scan[],
		call?: CallOptions,
	): Promise<readonly KeyResult<ScanResult>[]>;

	/** Single edges, present or removed. */
	readEdges(
		keys: readonly EdgeKey[],
		call?: CallOptions,
	): Promise<readonly KeyResult<Edge | null>[]>;

	readLookups(
		keys: readonly LookupKey[],
		call?: CallOptions,
	): Promise<readonly KeyResult<LookupRow | null>[]>;

	/**
	 * One transaction on one shard. What it locks is said beforehand; `decide`
	 * is synchronous, has no side effects and may be called again (a deadlock,
	 * a renumbered list). PROTOCOLS §1, §2.
	 */
	transact<T>(
		transaction: Transaction<T>,
		trace?: WriteTrace,
	): Promise<TransactionResult<T>>;

	/**
	 * Change lookup rows by compare-and-set, each for itself. `expect: null`
	 * inserts; `next: null` deletes. Answers the row that stands there
	 * afterwards, so that the caller sees whether it is its own. PROTOCOLS §4.
	 */
	compareAndSetLookups(
		changes: readonly LookupChange[],
		trace?: WriteTrace,
	): Promise<readonly KeyResult<LookupRow | null>[]>;

	/**
	 * Outbox entries, oldest first. Each shard returns its entries in
	 * order of next attempt, then of insertion. A shard that does not answer is left out.
	 */
	pendingEntries(query: PendingEntriesQuery): Promise<readonly PendingEntry[]>;

	/** Record failed deliveries, with one statement for up to 500 entries of a shard. */
	recordFailedDeliveries(
		failures: readonly FailedDelivery[],
		trace?: WriteTrace,
	): Promise<void>;

	/** Delete entries that were delivered; those already deleted are ignored. */
	deleteOutboxEntries(
		keys: readonly OutboxKey[],
		trace?: WriteTrace,
	): Promise<void>;

	/** Shards with objects and mappings, shards open for new users, and the number of mod shards. */
	readonly shards: readonly number[];
	readonly openShards: readonly number[];
	readonly modShards: number;
	/** Whether no other process writes to these shards while this one does. */
	readonly hasSingleWriter: boolean;
	/** The host a shard lives on, as explain and `id` print it; null for a shard no range covers. */
	hostOf(shard: number): string | null;
	hostOfModShard(modShard: number): string | null;

	/**
	 * What `createTables` would create or change, as `db00003.pins` for a table
	 * and `db00003.outbox.attempts` for a column. Rejects if a shard does not answer.
	 */
	missingTables(): Promise<readonly string[]>;

	/**
	 * Create missing tables on every shard, and bring tables of earlier versions up
	 * to date: their rows stay. Repeating it changes nothing.
	 */
	createTables(progress?: (done: number, total: number) => void): Promise<void>;

	/** Walk everything in key order, in batches, for `verify`: not a snapshot. */
	walkObjects(
		shard: number,
		type: string,
	): AsyncIterable<readonly StoredObject[]>;
	walkEdges(shard: number, mapping: Mapping): AsyncIterable<readonly Edge[]>;
	walkLists(shard: number, mapping: Mapping): AsyncIterable<readonly ListRow[]>;
	/** All outbox entries, due or not, in order of insertion. */
	walkOutbox(shard: number): AsyncIterable<readonly PendingEntry[]>;
	walkLookups(modShard: number): AsyncIterable<readonly LookupRow[]>;
}

/** What came back for one key. */
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

export interface Edge {
	readonly from: Id;
	readonly to: Id;
	/** Below 2^53. In lists ordered by time: microseconds since 1970. */
	readonly sequence: number;
	readonly state: EdgeState;
	/** Rises by one with every change at the source. */
	readonly version: number;
}

/** A list's own row, which is locked before its edges are touched. */
export interface ListRow {
	readonly from: Id;
	/** Present edges. */
	readonly count: number;
	readonly lastSequence: number;
	/** Rises when the list is renumbered. */
	readonly epoch: number;
}

/** A place between edges; it stays good when the edge at it is gone. */
export interface Position {
	readonly sequence: number;
	readonly to: Id;
}

export interface Scan extends ListKey {
	/** Against the mapping's order: the edges nearest the end come first. */
	readonly backward: boolean;
	/** Exclusive bounds in the mapping's order, whichever way the scan runs. */
	readonly after?: Position;
	readonly before?: Position;
	readonly limit: number;
}

export interface ScanResult {
	/** In the order of the scan. */
	readonly edges: readonly Edge[];
	/** A list nobody wrote to has a row of zeros. */
	readonly list: ListRow;
}

export interface LookupKey {
	readonly name: string;
	/** Already folded. */
	readonly key: string;
}

export interface LookupRow extends LookupKey {
	readonly id: Id;
	/** Tells one claim of a key from the next by the same object. */
	readonly token: string;
}

export interface LookupChange extends LookupKey {
	readonly expect: { readonly id: Id; readonly token: string } | null;
	readonly next: { readonly id: Id; readonly token: string } | null;
}

export interface Transaction<T> {
	readonly shard: number;
	/** Count rows to lock, before anything else. Storage sorts them. */
	readonly lists?: readonly ListKey[];
	/** Objects to lock and read. */
	readonly objects?: readonly Id[];
	/** Edges to read; their lists must be among `lists`. */
	readonly edges?: readonly EdgeKey[];
	/** Edges whose present neighbours in the mapping's order are wanted too; their lists must be among `lists`. */
	readonly neighbors?: readonly EdgeKey[];
	/** Objects to insert on this shard, before `decide` is asked. */
	readonly creates?: readonly NewObject[];
	readonly decide: (seen: TransactionReads) => TransactionWrites<T>;
	/**
	 * Awaited just before COMMIT, with the decision made and all locks held: the
	 * one bounded wait for shared caches. It is called again if the transaction
	 * has to be run again, and must not reject. SQLite, which has no caches shared
	 * with other processes in front of it, does not call it.
	 */
	readonly beforeCommit?: () => Promise<void>;
}

export interface NewObject {
	/** The type's name. */
	readonly type: string;
	readonly data: JsonObject;
}

/** What the transaction read under its locks, each in the order it was asked for. */
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
	/** What `transact` answers. */
	readonly result: T;
	/** New content of objects: of those locked, or just created. */
	readonly objects?: readonly { readonly id: Id; readonly data: JsonObject }[];
	/**
	 * Edges as they shall stand. Each was read under `edges`, or leads to an
	 * object just created. Storage brings counts, and the list's last sequence,
	 * in line with them.
	 */
	readonly edges?: readonly (EdgeKey & Omit<Edge, "from" | "to">)[];
	/** Ask for the list to be renumbered, order kept, and for `decide` to be called again; the rest of these effects is dropped. */
	readonly renumber?: ListKey;
	/** Lists, of those locked, whose rows are to be brought in line with their edges by counting them: for repairs, it reads the whole list. */
	readonly recount?: readonly ListKey[];
	/** What this transaction owes elsewhere: one outbox row, committed with it. */
	readonly outboxEntry?: JsonObject;
}

export interface TransactionResult<T> {
	readonly result: T;
	readonly outboxKey: OutboxKey | null;
}

export interface OutboxKey {
	readonly shard: number;
	readonly local: number;
}

export interface OutboxRow extends OutboxKey {
	readonly entry: JsonObject;
}

/** An outbox row as stored, with the state of its delivery. */
export interface PendingEntry extends OutboxRow {
	/** Microseconds since 1970. */
	readonly writtenAt: number;
	/** Failed deliveries so far. */
	readonly attempts: number;
	/** Microseconds since 1970; 0 for an entry to deliver at once. */
	readonly nextAttemptAt: number;
	/** Why the last delivery failed; null before the first failure. */
	readonly lastError: string | null;
}

export interface PendingEntriesQuery {
	/** Only entries written at least this long ago. */
	readonly olderThanMs: number;
	/** Entries of each shard at most. */
	readonly limit: number;
	/** Also entries whose next attempt is not due yet. */
	readonly includeDelayed?: boolean;
	/** All shards if absent. */
	readonly shards?: readonly number[];
	/** Entries already read: each shard continues after the last of its own. */
	readonly after?: readonly OutboxPosition[];
}

/** The position of an entry in the order in which its shard delivers them. */
export type OutboxPosition = Pick<
	PendingEntry,
	"shard" | "nextAttemptAt" | "local"
>;

/** A failed delivery adds one to the entry's `attempts`. */
export interface FailedDelivery extends OutboxKey {
	/** Microseconds since 1970. */
	readonly nextAttemptAt: number;
	/** Stored as `lastError`, cut to 255 characters. */
	readonly error: string;
}
