import { channelOf, Levels } from "../diagnostics.ts";
import type { RetryReason, Span } from "../trace.ts";

export const PLAN_CHANNELS = {
	/** A root field of a mutation ended. */
	mutation: channelOf<MutationCompleted>("corkboard.mutation"),
	/** A write of a root field of a mutation was rolled back and started again. */
	mutationRetry: channelOf<MutationRetry>("corkboard.mutationRetry"),
	/** A limit turned something away. Most limits are the server's; the cost of an operation is the lowest. */
	refused: channelOf<Refused>("corkboard.refused"),
};

/** The caches of plans. */
export const PLAN_CACHE_LEVELS = new Levels<PlanCacheLevel>();

/** What is kept of a request while it runs, for its trace and for the log of slow requests. */
export interface RequestRecord {
	/** Null if the request is not sampled. */
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

interface MutationCompleted {
	/** Its name in the schema. */
	readonly field: string;
	/** `extensions.code` of the error of the field itself; null without one. */
	readonly code: string | null;
	/** With the reads of its payload. */
	readonly ms: number;
}

interface MutationRetry {
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

type RefusedLimit = (typeof REFUSED_LIMITS)[number];

export function publishRefusal(limit: RefusedLimit): void {
	if (!PLAN_CHANNELS.refused.hasSubscribers) return;
	PLAN_CHANNELS.refused.publish({ limit });
}

export interface PlanCacheLevel {
	readonly plans: number;
	/** Since it was opened, as are the others. */
	readonly hits: number;
	readonly misses: number;
	readonly compileMs: number;
}
