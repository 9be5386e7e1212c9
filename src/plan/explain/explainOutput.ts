import type {
	CacheLayer,
	RetryReason,
	Statement,
	WriteDescription,
} from "../../trace.ts";
import type { PlanStep } from "../plan.ts";

/**
 * What an operation did, step by step: plain data, sent to clients as
 * `extensions.explain`. It holds names and numbers only, never an argument, a
 * stored value or an error's message.
 */
export interface ExplainOutput {
	/** The operation's type and name: `query Home`. */
	readonly operation: string;
	readonly cost: number;
	readonly limit: number;
	readonly ms: number;
	/** Statements sent to hosts. */
	readonly statements: number;
	/** Rows that those statements returned or changed, as the hosts count them. */
	readonly rows: number;
	/** Objects, edges and natural keys that were written. */
	readonly written: number;
	/** The texts of the statements, each once. */
	readonly sql: readonly string[];
	readonly steps: readonly ExplainStep[];
}

export interface ExplainStep {
	/** A write is not a step of the plan: a mutation's `call` causes it. */
	readonly kind: PlanStep["kind"] | "write";
	/** The response path, without list indexes. */
	readonly path: string;
	/** The schema coordinate: `Type.field`. */
	readonly field: string;
	/** The mapping, the types, the resolver's field, or what was written. */
	readonly target: string;
	/** True for a fetch whose objects the scan above it read. That scan reports their statements and cache results. */
	readonly withPage: boolean;
	readonly cost: number;
	/** Once for each level that reached the step; 0 if none did. */
	readonly runs: number;
	/** Number of lists, ids or parent objects in the input. */
	readonly parents: number;
	/** Number of edges, visible objects, values, or rows written. */
	readonly results: number;
	/** Parents whose result is an error. */
	readonly errors: readonly ErrorCount[];
	/** Edges that were read and left out, because the viewer may not see their objects. */
	readonly hiddenEdges: number;
	/** Shards of the parents, and of the statements. */
	readonly shards: readonly number[];
	/** Mod shards of the statements on lookups. */
	readonly modShards: readonly number[];
	readonly hosts: readonly string[];
	readonly statements: readonly ExplainStatement[];
	readonly cache: readonly ExplainCache[];
	readonly rows: number;
	/** From the start of the operation to the first start of the step. */
	readonly startMs: number;
	/** From the first start of the step to its last result. */
	readonly ms: number;
	/** Null unless `kind` is `write`. */
	readonly write: ExplainWrite | null;
	/** What else the step did, one line each; absent for nothing. */
	readonly notes?: readonly string[];
	/** Steps that needed this step's result. */
	readonly steps: readonly ExplainStep[];
}

export interface ErrorCount {
	readonly code: string;
	/** Null for an error that no host caused. */
	readonly host: string | null;
	readonly count: number;
}

export interface ExplainStatement extends Omit<Statement, "sql"> {
	/** Where `ExplainOutput.sql` has its text; null if the text is unknown. */
	readonly sql: number | null;
	/** The kinds of its parameters, never a value. */
	readonly parameters: readonly string[];
	/** True if another step reports the statement too, or another request does: those of one moment share reads. */
	readonly shared: boolean;
}

export interface ExplainCache {
	readonly layer: CacheLayer;
	readonly hits: number;
	readonly misses: number;
}

/** Writes of one call that change the same things are one step with several runs. */
export interface ExplainWrite {
	readonly verb: WriteDescription["verb"];
	/** Writes that still ran when the response was sent. */
	readonly unfinished: number;
	/** One reason for each retry. A retry sends all statements again. */
	readonly retries: readonly RetryReason[];
	/** Writes of other requests in the same database transactions, whose statements are included. */
	readonly grouped: number;
	/** What the outbox entries of these writes hold. */
	readonly outboxEntries: readonly OutboxEntryCount[];
	/** Whether all outbox entries were delivered before the response was sent. */
	readonly delivered: boolean;
	readonly caches: readonly ExplainInvalidation[];
}

export interface OutboxEntryCount {
	/** A part of an outbox entry: `edges`, `invalidations`, … */
	readonly kind: string;
	readonly count: number;
}

/** Keys of a shared cache that a write deleted. */
export interface ExplainInvalidation {
	readonly layer: CacheLayer;
	readonly keys: number;
	/** Whether the cache acknowledged. */
	readonly ok: boolean;
}
