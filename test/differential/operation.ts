import type { DocumentNode, ExecutionResult } from "graphql";
import type { Id } from "../../src/id/ids.ts";

/** A random operation with its variables and viewer. */
export interface Operation {
	readonly text: string;
	readonly document: DocumentNode;
	readonly operationName: string | null;
	readonly variables: Readonly<Record<string, unknown>>;
	readonly viewer: Id | null;
}

/** The plan, the reference or a mutant. */
export type Execute = (operation: Operation) => Promise<ExecutionResult>;
