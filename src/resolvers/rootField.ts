import { asCorkboardError } from "../errors.ts";
import type { RequestContext } from "../graphql/context.ts";
import type { BatchResolver } from "../plan/batchResolver.ts";
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from "../plan/pageArguments.ts";
import type { CallOptions } from "../trace.ts";
import { isPromise } from "../util/maybePromise.ts";

export type Arguments = Readonly<Record<string, unknown>>;

/** A field of Query or Mutation. It has one parent; an error it throws is the error of that parent. */
export function rootField(field: {
	/** Edges and objects that the field itself reads. Lookups are free. */
	cost(args: Arguments): number;
	/** How many objects the result may name; 1 if absent. */
	maxObjects?(args: Arguments): number;
	readonly dependsOnViewer: boolean;
	resolve(args: Arguments, context: RequestContext, call: CallOptions): unknown;
}): BatchResolver<RequestContext> {
	return {
		cost: field.cost,
		maxObjects: field.maxObjects ?? (() => 1),
		dependsOnViewer: field.dependsOnViewer,
		resolve({ parents, args, context, call }) {
			const forAll = (result: unknown) => parents.map(() => result);
			const failed = (thrown: unknown) => forAll(asCorkboardError(thrown));
			try {
				const result = field.resolve(args, context, call);
				return isPromise(result) ? result.then(forAll, failed) : forAll(result);
			} catch (thrown) {
				return failed(thrown);
			}
		},
	};
}

/** How many items a list without cursors may have, by its argument `first`; `coerceFirst` refuses other numbers. */
export function sizeOfList({ first }: Arguments): number {
	return typeof first === "number"
		? Math.min(Math.max(first, 0), MAX_PAGE_SIZE)
		: DEFAULT_PAGE_SIZE;
}
