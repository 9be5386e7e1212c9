import type { DocumentNode, ExecutionResult } from "graphql";
import type { Id } from "../../src/id/ids.ts";

/** A random operation with all a request brings along. */
export interface Operation {
	readonly text: string;
	readonly document: DocumentNode;
	readonly operationName: string | null;
	readonly variables: Readonly<Record<string, unknown>>;
	readonly viewer: Id | null;
}

/** An executor under comparison: the plan, the reference, the oracle. */
export type Execute = (operation: Operation) => Promise<ExecutionResult>;
