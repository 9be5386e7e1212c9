import type { CorkboardError, FieldProblem } from "../errors.ts";
import type { Graph, Node } from "../graph/types.ts";
import type { Model } from "../model/types.ts";
import type { FieldPolicies } from "../model/validation.ts";
import type { CallOptions } from "../trace.ts";
import type { MaybePromise } from "../util/maybePromise.ts";

/**
 * A hand-written resolver for one field: a `call` step of a plan. It is called
 * once for all parents of a level and returns one value or error for each, in
 * order, and without a promise if nothing has to be waited for. It must not
 * fail because of one parent.
 *
 * For a field of an object type it returns ids (or lists of ids): the plan
 * fetches the objects, and those the viewer may not see become null. For a
 * payload or another type without storage it returns a record of fields.
 */
export interface BatchResolver<Context = unknown> {
	/** The most edges and objects that it reads itself for each parent. The plan counts the objects it fetches for the result. */
	cost(args: Readonly<Record<string, unknown>>): number;
	/** The most objects that the result for one parent may name; 1 if absent. */
	maxObjects?(args: Readonly<Record<string, unknown>>): number;
	/** What is wrong with fields of its argument `input`, if others do not even fit their types. Absent if nothing is checked then. */
	inputProblems?(
		args: Readonly<Record<string, unknown>>,
		types: InputTypes,
	): readonly FieldProblem[];
	/** The fields of its argument `input` that it reads: the program does not start if the SDL has others. */
	inputFields?(types: InputTypes): readonly string[];
	/** Whether the result depends on the viewer. */
	readonly dependsOnViewer: boolean;
	/** What it names of the schema: the program does not start without. */
	readonly uses?: { readonly mapping?: string; readonly lookup?: string };
	resolve(request: {
		/** Objects; `[null]` for a root field. */
		readonly parents: readonly (Node | null)[];
		readonly args: Readonly<Record<string, unknown>>;
		readonly context: Context & { readonly graph: Graph };
		readonly call: CallOptions;
	}): MaybePromise<readonly (unknown | CorkboardError)[]>;
}

/** What the fields of an input follow from. */
export interface InputTypes {
	readonly model: Model;
	readonly fields: FieldPolicies;
}

/** By `Type.field`. */
export type Resolvers<Context = unknown> = ReadonlyMap<
	string,
	BatchResolver<Context>
>;
