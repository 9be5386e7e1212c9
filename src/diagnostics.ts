import { channel } from "node:diagnostics_channel";

/**
 * The diagnostics channels of the program, for metrics, the log, and tests that
 * count calls. Nothing is computed for a channel without subscribers.
 */
export const CHANNELS = {
	/** A GraphQL request was answered: `RequestCompleted`. */
	request: channel("corkboard.request"),
	/** A root field of a mutation ended: `MutationCompleted`. */
	mutation: channel("corkboard.mutation"),
	/** A write of a root field of a mutation was rolled back and started again: `MutationRetry`. */
	mutationRetry: channel("corkboard.mutationRetry"),
	/** A limit turned something away: `Refused`. */
	refused: channel("corkboard.refused"),
	/** Asks how full pools and caches are: `Levels`. Whoever has a level answers at once. */
	levels: channel("corkboard.levels"),
	/** One call of the storage port: `StorageCall`. */
	storage: channel("corkboard.storage"),
	/** One statement on one host: `Statement`. */
	statement: channel("corkboard.statement"),
	/** A statement or transaction was rolled back and starts again: `WriteRetry`. */
	writeRetry: channel("corkboard.writeRetry"),
	/** A caller had to wait for a connection: `PoolWait`. */
	poolWait: channel("corkboard.poolWait"),
	/** Outbox entries were delivered, or not: `OutboxDelivery`. */
	outboxDelivery: channel("corkboard.outboxDelivery"),
	/** A delivery pass of the outbox worker that delivered something or failed: `DeliveryPass`. */
	deliveryPass: channel("corkboard.deliveryPass"),
	/** One batch to one host of a shared cache: `CacheCall`. */
	cacheCall: channel("corkboard.cacheCall"),
	/** Keys were read from a shared cache: `SharedRead`. */
	sharedRead: channel("corkboard.sharedRead"),
	/** Keys were filled into a shared cache: `SharedFill`. */
	sharedFill: channel("corkboard.sharedFill"),
	/** Processes published what changed, or could not: `Invalidation`. */
	invalidation: channel("corkboard.invalidation"),
	/** A host of a shared cache failed or recovered: `CacheHost`. */
	cacheHost: channel("corkboard.cacheHost"),
	/** Calls of one database host that failed: `DatabaseFailure`. */
	databaseFailure: channel("corkboard.databaseFailure"),
	/** A database host stopped answering, or answers again: `DatabaseHost`. */
	databaseHost: channel("corkboard.databaseHost"),
	/** The name of a database host leads to another server, or to one that takes no writes any more: `DatabaseServer`. */
	databaseServer: channel("corkboard.databaseServer"),
	/** A new connection has said what time it is: `DatabaseClock`. */
	databaseClock: channel("corkboard.databaseClock"),
	/** Another process found this server behind a host's name: `FoundElsewhere`. */
	foundElsewhere: channel("corkboard.foundElsewhere"),
	/** Writes to a host have stopped because a failover lost what was acknowledged, or may go on: `DatabaseLoss`. */
	databaseLoss: channel("corkboard.databaseLoss"),
	/** A database host acknowledged a transaction of this process: `AcknowledgedCommit`. */
	acknowledgedCommit: channel("corkboard.acknowledgedCommit"),
	/** The shards that a process reads past its own cache have changed: `UnreadOutboxes`. */
	unreadOutboxes: channel("corkboard.unreadOutboxes"),
	/** The topology was loaded or rejected, or its store was lost: `TopologyEvent`. */
	topology: channel("corkboard.topology"),
	/** A pair of a primary and its standby did something about a read: `StandbyEvent`. */
	standby: channel("corkboard.standby"),
	/** Shards that the topology opens, but that lack tables: `HeldShards`. */
	heldShards: channel("corkboard.heldShards"),
	/** Spans of traces were not sent: `SpansLost`. */
	spansLost: channel("corkboard.spansLost"),
	/** Rotation of a queue did a statement, or ended a round: `QueueRotation`. */
	queueRotation: channel("corkboard.queue.rotate"),
	/** Somebody looked at a home feed, and pins were added or not: `FeedLook`. */
	feedLook: channel("corkboard.feed.look"),
	/** A ranker did not answer well or in time, so the default did: `RankerFellBack`. */
	rankerFellBack: channel("corkboard.feed.ranker"),
	/** A document ran that no document file contains: `UnknownDocument`. */
	unknownDocument: channel("corkboard.unknownDocument"),
	/** A pin was pushed to pools of home feeds: `FeedPushed`. */
	feedPushed: channel("corkboard.feed.pushed"),
	/** Jobs were enqueued: `JobsEnqueued`. */
	jobsEnqueued: channel("corkboard.queue.enqueue"),
	/** Jobs were not enqueued, because their queue was full: `JobsRefused`. */
	jobsRefused: channel("corkboard.queue.refuse"),
	/** A worker claimed jobs, or found none: `JobsClaimed`. */
	jobsClaimed: channel("corkboard.queue.claim"),
	/** A start of a job ended: `JobEnded`. */
	jobEnded: channel("corkboard.queue.end"),
	/** Claims ended unfinished: `JobsExpired`. */
	jobsExpired: channel("corkboard.queue.expire"),
	/** A worker cannot do its work, or can again: `WorkerProblem`. */
	workerProblem: channel("corkboard.queue.worker"),
} as const;

/** One page of followers of a producer. */
export interface FeedPushed {
	readonly source: string;
	/** Followers, active or not. */
	readonly receivers: number;
	/** Pools that the pin is new in. */
	readonly rows: number;
	/** Since the pin was made. Milliseconds. */
	readonly lagMs: number;
}

export interface JobsEnqueued {
	readonly queue: string;
	readonly shard: number;
	readonly added: number;
	/** Into pending jobs with the same key. */
	readonly merged: number;
}

export interface JobsRefused {
	readonly queue: string;
	readonly jobs: number;
}

export interface JobsClaimed {
	readonly queue: string;
	readonly shard: number;
	/** 0: others had claimed them. */
	readonly jobs: number;
	readonly ms: number;
}

export interface JobEnded {
	readonly queue: string;
	/** As a job store and its operators name it. */
	readonly id: string;
	/**
	 * - `succeeded`
	 * - `retried`: failed, and there is another attempt.
	 * - `failed`: for good.
	 * - `later`: the handler asked for a later start.
	 * - `released`: given back, because the worker stops or was too busy to begin it.
	 * - `lost`: its claim had ended, or its end could not be reported in time; it runs again.
	 */
	readonly outcome: JobOutcome;
	/** From due to start. */
	readonly waitMs: number;
	/** Null where it was not started. */
	readonly runMs: number | null;
	/** Of `retried` and `failed`. */
	readonly error: unknown;
}

export const JOB_OUTCOMES = [
	"succeeded",
	"retried",
	"failed",
	"later",
	"released",
	"lost",
] as const;

export type JobOutcome = (typeof JOB_OUTCOMES)[number];

export interface JobsExpired {
	readonly queue: string;
	readonly shard: number;
	/** Jobs that are pending again. */
	readonly again: number;
	/** Jobs that had no attempt left. */
	readonly failed: number;
}

export interface WorkerProblem {
	/**
	 * - `shard`: it cannot be asked for jobs.
	 * - `renewals`: claims are not renewed.
	 */
	readonly kind: "shard" | "renewals";
	readonly shard: number | null;
	/** Null: it is over. */
	readonly error: unknown;
}

export interface RequestCompleted {
	/**
	 * - `reused`: past Fastify and Apollo, with an answer that was kept.
	 * - `short`: past Fastify and Apollo.
	 * - `long`: any other.
	 */
	readonly way: "reused" | "short" | "long";
	/** Whether the client sent the document's text rather than a name of it; null where no document was found. */
	readonly isText: boolean | null;
	/** Null where no operation was found. */
	readonly type: "query" | "mutation" | "subscription" | null;
	/** The operation's name; null where it has none. */
	readonly operation: string | null;
	/** Of the document's text, if the server knows it: 64 hex digits. */
	readonly sha256: string | null;
	/** What the operation uses of the schema; null where it did not run. */
	readonly uses: SchemaUses | null;
	/** The name that the client gives itself; `unknown` without a valid one. */
	readonly client: string;
	/** Of HTTP. */
	readonly status: number;
	/** `extensions.code` of each error. */
	readonly codes: readonly string[];
	/** Worst-case cost, in points; null where nothing was admitted. */
	readonly cost: number | null;
	/** Since it arrived. */
	readonly ms: number;
	/** As in the header `x-request-id`. */
	readonly requestId: string;
	/** 32 hex digits; null where it is not sampled. */
	readonly traceId: string | null;
	/** `extensions.errorId` of each error that has one. */
	readonly errorIds: readonly string[];
	/** What was recorded while it ran; null where nothing was. */
	readonly record: RequestRecord | null;
}

/** What is kept of a request while it runs, for its trace and for whoever asks why it was slow. */
export interface RequestRecord {
	/** Null where the request is not sampled. */
	readonly span: Span | null;
	/** Null before the operation runs. */
	operation: OperationRecord | null;
}

export interface OperationRecord {
	/** The operation has ended: `recorded` may be called later, and answers the same. */
	end(): void;
	/** Memory that this record keeps in use, about, and not exactly at all. */
	readonly heldBytes: number;
	/** What the operation did until now: `RecordedOperation` of src/plan. */
	recorded(): unknown;
}

export interface MutationCompleted {
	/** Its name in the schema. */
	readonly field: string;
	/** `extensions.code` of the error of the field itself; null without one. */
	readonly code: string | null;
	/** With the reads of its payload. */
	readonly ms: number;
}

export interface MutationRetry {
	/** Its name in the schema. */
	readonly field: string;
	readonly reason: RetryReason;
}

/** The same object for all requests of an operation of a parsed document. */
export interface SchemaUses {
	/** Schema coordinates, each once: `Type`, `Type.field`, `Type.field(argument:)`, `Input.field`, `Enum.VALUE`, `@directive`. */
	readonly coordinates: readonly string[];
}

export interface Refused {
	/**
	 * - as in the log event `overload`: `requests`, `pipelined`, `bodies`, `connections`, `unread`.
	 * - `rate`: requests of one address. `budget`: points of one viewer.
	 * - `cost`: of one operation. `document`, `request`: what a client sent is too large.
	 * - `deadline`: the operation took too long.
	 */
	readonly limit: RefusedLimit;
}

export const REFUSED_LIMITS = [
	"requests",
	"pipelined",
	"bodies",
	"connections",
	"unread",
	"rate",
	"budget",
	"cost",
	"document",
	"request",
	"deadline",
] as const;

export type RefusedLimit = (typeof REFUSED_LIMITS)[number];

export function publishRefusal(limit: RefusedLimit): void {
	if (!CHANNELS.refused.hasSubscribers) return;
	CHANNELS.refused.publish({ limit } satisfies Refused);
}

/** What is full and how much of it. A level that nobody asks for is left out. */
export interface Levels {
	readonly pool?: (level: PoolLevel) => void;
	readonly standby?: (state: StandbyState) => void;
	readonly localCache?: (level: LocalCacheLevel) => void;
	readonly planCache?: (level: PlanCacheLevel) => void;
	/** The answer comes later, but soon, and is no error. */
	readonly outbox?: (levels: Promise<readonly OutboxLevel[]>) => void;
	/** The same. Processes that run jobs answer. */
	readonly queues?: (levels: Promise<readonly QueueLevel[]>) => void;
	/** The same. */
	readonly sharedCache?: (levels: Promise<readonly SharedCacheLevel[]>) => void;
	/** Producers whose pins looks at home feeds read. */
	readonly pulledProducers?: (count: number) => void;
	/** Seconds since the store's topology was last known to be the one in use. */
	readonly topologyAge?: (seconds: number) => void;
}

/** A host of a shared cache, as it describes itself. All that it holds is counted, whoever put it there. */
export interface SharedCacheLevel {
	readonly layer: CacheLayer;
	readonly host: string;
	readonly entries: number;
	readonly bytes: number;
	/** What it may hold; null without a limit. */
	readonly maxBytes: number | null;
	/** Entries that left it for want of room, since it was started. */
	readonly evictions: number;
}

export interface PlanCacheLevel {
	readonly plans: number;
	/** Since it was opened, as are the others. */
	readonly hits: number;
	readonly misses: number;
	readonly compileMs: number;
}

/** The outboxes of the shards of one host. */
export interface OutboxLevel {
	readonly host: string;
	/** Entries, up to a number for each shard. */
	readonly pending: number;
	/** Age of the oldest one, in milliseconds; 0 without one. */
	readonly oldestMs: number;
}

/** The jobs of one queue on all shards, each number up to a limit for each shard. */
export interface QueueLevel {
	readonly queue: string;
	readonly jobs: Readonly<
		Record<"ready" | "delayed" | "running" | "failed", number>
	>;
	/** How long the job that was due first has been due; 0 where none is. Milliseconds. */
	readonly oldestMs: number;
	readonly isPaused: boolean;
}

export interface PoolLevel {
	readonly host: string;
	readonly purpose: string;
	readonly used: number;
	readonly idle: number;
	/** Callers. */
	readonly waiting: number;
}

/** One of the caches in the process. Counts are since it was opened. */
export interface LocalCacheLevel {
	readonly cache: string;
	readonly hits: number;
	readonly misses: number;
	/** Values that were read and not kept, because they were changed meanwhile or the cache is bypassed. */
	readonly refused: number;
	readonly evictions: number;
	readonly entries: number;
	readonly bytes: number;
}

export interface StorageCall {
	readonly verb: string;
	/** Number of keys in the call. */
	readonly keys: number;
}

export interface Statement {
	/** What the statement does, e.g. `objects pins`: a name, never a value. Reads of edges begin with `scan`, reads of objects with `objects`. */
	readonly name: string;
	readonly host: string;
	readonly shard: number;
	readonly rows: number;
	readonly ms: number;
	/** Sent with the statement before it, in one round trip, whose time is that statement's. */
	readonly joined?: true;
	/** From the call to the first statement: for a connection. Milliseconds; absent where nothing was waited for. */
	readonly waitedMs?: number;
	/** Of so many requests, if it is of several. Its rows are those of all. */
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

export interface DeliveryPass {
	readonly delivered: number;
	readonly undelivered: number;
	/** Of the undelivered entries, those that cannot be read. */
	readonly unreadable: number;
	readonly error?: unknown;
}

export interface CacheCall {
	readonly layer: CacheLayer;
	readonly host: string;
	/** `lease` follows a `get` that missed. */
	readonly verb:
		| "get"
		| "lease"
		| "set"
		| "tombstone"
		| "delete"
		| "publish"
		| "take"
		| "count"
		| "stats";
	readonly keys: number;
	readonly ms: number;
	/** False after an error or a timeout. Skipped calls are not published. */
	readonly ok: boolean;
}

/** Keys of one read, by what a shared cache answered. */
export interface SharedRead {
	readonly layer: CacheLayer;
	readonly hits: number;
	/** Absent or damaged, or less than is needed. */
	readonly misses: number;
	/** Leased by another reader, or being written. Asked again later, they count again. */
	readonly busy: number;
	/** Of a host that did not answer. */
	readonly down: number;
}

export interface SharedFill {
	readonly layer: CacheLayer;
	readonly keys: number;
	readonly result: "filled" | "refused" | "failed";
}

/**
 * - `sent`: messages with the names of what this process changed; `ok` if Redis took them.
 * - `received`: one of another process.
 * - `missed`: all caches of this process were emptied, because it may have missed something.
 * - `heartbeat`: one of its own came back.
 * - `subscription`: it receives what others send, or does not.
 */
export type Invalidation =
	| {
			readonly kind: "sent";
			readonly messages: number;
			readonly keys: number;
			readonly ok: boolean;
	  }
	| { readonly kind: "received"; readonly keys: number }
	| {
			readonly kind: "missed";
			readonly reason: "gap" | "all" | "unreadable";
	  }
	| { readonly kind: "heartbeat"; readonly ms: number }
	| { readonly kind: "subscription"; readonly isLive: boolean };

export interface WriteRetry {
	readonly host: string;
	readonly reason: Exclude<RetryReason, "shared">;
}

export function publishRetry(retry: WriteRetry): void {
	if (CHANNELS.writeRetry.hasSubscribers) CHANNELS.writeRetry.publish(retry);
}

export interface AcknowledgedCommit {
	readonly host: string;
	/** As the server sends it with its answer: `UUID:NUMBER`. */
	readonly gtid: string;
	/** What it wrote, as names of objects and edges; empty where that is not known. */
	readonly wrote: readonly string[];
}

export interface FeedLook {
	/**
	 * - `added`: so many pins as `added` says, or nothing waited.
	 * - `late`: not in time for this answer; they are added all the same, if they can be.
	 * - `failed`: the feed stays as it is.
	 */
	readonly outcome: "added" | "late" | "failed";
	readonly added: number;
	/** Pins that waited and were not added, by reason. */
	readonly leftOut: ReadonlyMap<string, number>;
	readonly ms: number;
}

export interface RankerFellBack {
	readonly call: "score" | "arrange";
	/** `absent`: its thread is being replaced. */
	readonly why: "late" | "failed" | "unusable" | "absent";
}

export interface PoolWait {
	readonly host: string;
	readonly purpose: string;
	readonly ms: number;
	/** Whether it was given one. */
	readonly ok: boolean;
}

export interface OutboxDelivery {
	/** `write`: right after the commit of the entry. `worker`: the outbox worker. */
	readonly by: "write" | "worker";
	readonly delivered: number;
	readonly undelivered: number;
	/** Of the undelivered entries, those that cannot be read. */
	readonly unreadable: number;
	/** Undelivered entries by the host that was not reached; null for one that refused, or in unknown state. */
	readonly destinations: ReadonlyMap<string | null, EntriesLeft>;
}

export interface EntriesLeft {
	readonly entries: number;
	/** When the oldest of them was written. Milliseconds since 1970. */
	readonly oldestAt: number;
}

export interface CacheHost {
	readonly layer: CacheLayer;
	readonly host: string;
	readonly state: "down" | "up";
	readonly error?: unknown;
}

export interface DatabaseFailure {
	readonly host: string;
	/** Of `StorageFailure`. */
	readonly kind: string;
}

export interface DatabaseHost {
	/** `host:port` */
	readonly host: string;
	/** `left`: it was down, and its connections are closed for good. Another version of the topology may have it still. */
	readonly state: "down" | "up" | "left";
	readonly error?: unknown;
}

export interface DatabaseServer {
	/** `host:port` */
	readonly host: string;
	/** As servers name themselves: MySQL's `server_uuid`. */
	readonly server: string;
	readonly before: string;
	readonly takesWrites: boolean;
}

/** How far a server's clock is before (negative: behind) that of this process, in milliseconds: between these two. */
export interface DatabaseClock {
	/** `host:port` */
	readonly host: string;
	readonly least: number;
	readonly most: number;
}

export interface FoundElsewhere {
	/** `host:port` */
	readonly host: string;
	readonly server: string;
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

export interface UnreadOutboxes {
	/** Shards whose outbox this process could not read for some seconds. */
	readonly shards: readonly number[];
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

export interface SpansLost {
	readonly spans: number;
	readonly error: unknown;
}

export type QueueRotation = QueueRotationStep | QueueRotationRound;

/** A statement of rotation. The process may end after any of them. */
export interface QueueRotationStep {
	readonly kind: "step";
	readonly queue: string;
	readonly shard: number;
	readonly host: string;
	/** Of `ROTATION_STEPS`. */
	readonly step: string;
	/** False if the server refused it, because others kept using the table. */
	readonly isDone: boolean;
	/** How long statements on the queue's jobs may have waited for it; null for one that keeps none waiting. */
	readonly stallMs: number | null;
}

export interface QueueRotationRound {
	readonly kind: "round";
	readonly queue: string;
	readonly shard: number;
	readonly host: string;
	readonly ms: number;
	/** Of files that are gone. */
	readonly bytes: number;
	/** Jobs that were moved to a later span, or had to be taken out of one that was being given back. */
	readonly moved: number;
	/** Of spans of the past that are kept for jobs which are too many to move. */
	readonly heldBytes: number;
	/** Why the table could not be changed; null if it was, or nothing was tried. */
	readonly refused: string | null;
	/** How long it has been refused; 0 if it is not. */
	readonly refusedForMs: number;
	readonly error?: unknown;
}

export interface UnknownDocument {
	/** Of its text: 64 hex digits. */
	readonly sha256: string;
	readonly operationName: string | null;
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
	/** `failure` is a code or a kind of failure, null where there was none. The last call. */
	end(failure: string | null, attributes?: SpanAttributes): void;
}

/**
 * Records what one step of a plan causes in the caches and shards. Explain
 * passes one for each step; without one nothing is recorded.
 */
export interface Trace {
	/** Of the step. Absent or null where the request is not sampled. */
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
	/** Keys of a shared cache got tombstones or were deleted. `ok`: the cache acknowledged. */
	cache(
		verb: "tombstone" | "delete",
		layer: CacheLayer,
		keys: number,
		ok: boolean,
	): void;
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
