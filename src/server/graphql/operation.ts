import type { BaseContext } from "@apollo/server";
import type { DocumentNode } from "graphql";
import type { FieldProblem } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Answer } from "../../plan/answer.ts";
import type { RequestRecord, SchemaUses } from "../../plan/diagnostics.ts";
import type { OperationDeadline } from "../../util/deadline.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import type { ResponseSummary } from "../http/responseSummary.ts";
import type { CostMeter } from "../limits/costMeter.ts";

/** One operation of a parsed and valid document. */
export interface Operation {
	readonly document: DocumentNode;
	readonly operationName: string | undefined;
	readonly variables: Readonly<Record<string, unknown>>;
	readonly viewer: Id | null;
	/** The request's, or when the client disconnects. */
	readonly deadline: OperationDeadline;
	/** The document's text. */
	readonly source: string;
	/** Whether the response carries `extensions.explain`. */
	readonly explain: boolean;
	/** Whether to record what is read, so that the answer may be used again. */
	readonly recordsReads: boolean;
	/** Admits the operation by its cost before it runs, and records what it read. */
	readonly costMeter: CostMeter;
	/** Null if nothing is recorded. */
	readonly record: RequestRecord | null;
}

export type Execute = (operation: Operation) => MaybePromise<ExecutedAnswer>;

export interface ExecutedAnswer extends Answer {
	/** Only if it was asked for and the answer may be used again. */
	readonly reuse?: Reuse;
}

/** How an answer may be used again. */
export interface Reuse {
	/** Whether nothing that the operation read has changed, as far as this process would know it. */
	isValid(): boolean;
	/** Whether another viewer would get the same answer; null: it is for its viewer alone. */
	readonly isFor: ((viewer: Id | null) => boolean) | null;
	/** The edges and objects that it read; 0 if nobody counts them. */
	readonly reads: number;
	/** What it takes to know whether it is valid. */
	readonly bytes: number;
}

/** Whether the response to this operation differs between viewers. */
export type DependsOnViewer = (
	operation: Pick<Operation, "document" | "operationName" | "variables">,
) => boolean;

/** What an operation uses of the schema: the same object each time. */
export type UsesOf = (
	operation: Pick<Operation, "document" | "operationName">,
) => SchemaUses | null;

/** All that is wrong with the input of a mutation, of which something does not fit its type. */
export type InputProblems = (
	operation: Pick<Operation, "document" | "operationName" | "variables">,
) => readonly FieldProblem[];

export interface OperationContext
	extends BaseContext,
		Pick<
			Operation,
			"viewer" | "deadline" | "explain" | "costMeter" | "record"
		> {
	readonly summary: ResponseSummary;
}
