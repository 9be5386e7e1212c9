export interface Statement {
	/** What the statement does, e.g. `objects pins`: a name, never a value. Reads of edges begin with `scan`, reads of objects with `objects`. */
	readonly name: string;
	readonly host: string;
	readonly shard: number;
	readonly rows: number;
	readonly ms: number;
	/** Sent with the statement before it, in one round trip, whose time is that statement's. */
	readonly joined?: true;
	/** From the call to the first statement: for a connection. Milliseconds; absent if nothing was waited for. */
	readonly waitedMs?: number;
	/** How many requests the call serves, if several. Its rows are those of all. */
	readonly requests?: number;
	/** `shard` is a mod shard. */
	readonly onModShard?: true;
	/** Only of a statement that is traced. */
	readonly sql?: StatementSql;
}

/** What was sent, without a value: the text with placeholders, and the kinds of its parameters. */
export interface StatementSql {
	readonly text: string;
	/** In the order of the placeholders: `id × 12`, `text`, `JSON array of 3`. */
	readonly parameters: readonly string[];
}

export type CacheLayer = "request" | "process" | "memcached" | "redis";

/** What a span says of itself: OpenTelemetry's names where it has one, else `corkboard.*`. Never a value that a client sent. */
export type SpanAttributes = Readonly<
	Record<string, string | number | boolean | string[] | number[] | undefined>
>;

/** A part of a distributed trace, of a request that is sampled. */
export interface Span {
	/** 32 hex digits. */
	readonly traceId: string;
	/** What names this span as a parent to another program, as an SQL comment: `/*traceparent='…'*\/`. */
	readonly sqlComment: string;
	/** A part of this one. `startedAt` is in milliseconds of `performance.now()`; now if absent. */
	start(
		name: string,
		kind: "client" | "internal",
		attributes?: SpanAttributes,
		startedAt?: number,
	): Span;
	/** `failure` is a code or a kind of failure, null if there was none. The last call. */
	end(failure: string | null, attributes?: SpanAttributes): void;
}

/**
 * Records what one step of a plan causes in the caches and shards. Explain
 * passes one for each step; without one nothing is recorded.
 */
export interface Trace {
	/** The span of the step. Absent or null if the request is not sampled. */
	readonly span?: Span | null;
	/** Whether statements are not described: only explain shows their texts. What happens is the same. */
	readonly isBrief?: boolean;
	statement(statement: Statement): void;
	/** A call to a host failed, after so many milliseconds. */
	failure?(host: string, failure: string, ms: number): void;
	cache(layer: CacheLayer, hits: number, misses: number): void;
	/** So many edges of a list were read and left out: the viewer may not see their objects. */
	hiddenEdges(count: number): void;
	/** What else the step did, in names and numbers, never a value. */
	note?(text: string): void;
	/** A write starts. What it causes goes to the returned trace. */
	startWrite(write: WriteDescription): WriteTrace;
}

export interface WriteDescription {
	/**
	 * - `transaction`: on one shard.
	 * - `reservation`: reserves or releases natural keys.
	 * - `outbox`: deletes delivered outbox entries.
	 * - `invalidation`: retries to delete keys from shared caches.
	 */
	readonly verb: "transaction" | "reservation" | "outbox" | "invalidation";
	/** Names of mappings, types and lookups that it may change; never a value. */
	readonly changes: readonly string[];
	readonly shards: readonly number[];
}

/**
 * Why a write starts again:
 * - `deadlock`: MySQL rolled it back for another one; `lockWait`: it waited too long for a row.
 * - `shared`: another write of the same database transaction failed.
 * - `connectionLost`, and `readOnly`: its host takes no writes for now.
 * - `moved`: its host does not have the shard's tables, and a newer topology names another.
 */
export type RetryReason =
	| "deadlock"
	| "lockWait"
	| "shared"
	| "connectionLost"
	| "readOnly"
	| "moved";

/** Records what one write causes. */
export interface WriteTrace
	extends Pick<Trace, "span" | "isBrief" | "failure"> {
	statement(statement: Statement): void;
	/** The transaction was rolled back and starts again. */
	retry(why: RetryReason): void;
	/** It shared one database transaction with so many other writes: the statements are those of all. */
	grouped(others: number): void;
	/** Keys of a shared cache were deleted. `ok`: the cache acknowledged. */
	cache(layer: CacheLayer, keys: number, ok: boolean): void;
	end(ended: WriteSummary): void;
	/** Called instead of `end`: the write did not happen, or its outcome is unknown. */
	fail(thrown: unknown): void;
	/** Its outbox entry was delivered and deleted. */
	delivered(): void;
}

export interface WriteSummary {
	/** Objects, edges and lookups; not the rows of lists or of the outbox. */
	readonly rowsWritten: number;
	/** Parts of its outbox entry by kind, such as `edges`. */
	readonly outbox: Readonly<Record<string, number>>;
}

/** The part of a trace that a driver uses. Reads are not retried. */
export type StatementTrace = Pick<
	Trace,
	"statement" | "span" | "isBrief" | "failure"
> &
	Partial<Pick<WriteTrace, "retry">>;

/** Options of a call, passed down to the driver. */
export interface CallOptions {
	readonly signal?: AbortSignal | undefined;
	readonly trace?: Trace | undefined;
	/**
	 * Whether a write, or that one is settled, is decided by what is read: then it
	 * is read from a server that takes writes, or not at all. Only of reads past caches.
	 */
	readonly decides?: boolean | undefined;
}

export const DECISIVE: CallOptions = { decides: true };
