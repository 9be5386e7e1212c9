import type { CallOptions } from "../diagnostics.ts";
import type { CorkboardError } from "../errors.ts";
import type { Graph, Node } from "../graph/types.ts";

/**
 * A hand-written batch resolver: a `call` step of a plan. It is asked once for
 * all parents of a level, answers in their order, one value or one error each,
 * and does not throw for one of them. It never sees GraphQL's `info`.
 *
 * A value for a field of an object type is an id (or a list of ids); the plan
 * fetches the object and leaves null what the viewer may not see. A value for
 * a payload or another plain type is a record of its fields.
 */
export interface BatchResolver<Context = unknown> {
	/** Which keys of the parents' stored JSON it reads. */
	readonly needs?: readonly string[];
	/** The most edges and objects it reads itself for each parent; what the plan fetches from its answer is counted by the plan. */
	cost(args: Readonly<Record<string, unknown>>): number;
	/** How many objects its answer may name, for each parent; 1 if absent. */
	maxObjects?(args: Readonly<Record<string, unknown>>): number;
	/** Whether the answer depends on who asks. */
	readonly dependsOnViewer: boolean;
	resolve(request: {
		/** Objects; `[null]` for a root field. */
		readonly parents: readonly (Node | null)[];
		readonly args: Readonly<Record<string, unknown>>;
		readonly context: Context & { readonly graph: Graph };
		readonly call: CallOptions;
	}): Promise<readonly (unknown | CorkboardError)[]>;
}

/** By `Type.field`. */
export type Resolvers<Context = unknown> = ReadonlyMap<
	string,
	BatchResolver<Context>
>;
