import { GraphQLError } from "graphql";
import { CorkboardError } from "../errors.ts";
import type { VisibilityDependency } from "../graph/domain.ts";
import type { Mapping } from "../model/types.ts";
import { argumentsOf, type BoundPlan } from "./boundPlan.ts";
import { requestError } from "./errors.ts";
import {
	namedShape,
	type PlannedField,
	type Selection,
	type Step,
} from "./plan.ts";

/**
 * The most edges and objects that an operation may read with these variables.
 * Page sizes are as coerced, top-up is not counted, and neither is what caches
 * save: the cost of an operation is the same on every day.
 *
 * - An edge of a page costs 1 and its object 1, also where only cursors are
 *   looked at: what the viewer may see of a page is told by its objects. Counts
 *   and empty pages (`first: 0`) are free, unless it is asked what lies beside
 *   one: that takes an edge and its object.
 * - An object costs 1 more for each object that has to be read to tell whether
 *   it may be seen (its guards: a comment's author, its pin, that pin's board and
 *   owner), unless they were read on the way to it: a board's pins have their
 *   board, and its owner is theirs. So `Pin.board` and `Pin.owner` are free.
 * - A `call` states its own cost; the objects it names are counted here.
 */
export interface Cost {
	readonly total: number;
	/** What each step reads by itself, by step number. */
	readonly steps: ReadonlyMap<number, number>;
	/** What each field reads by itself, most expensive first, free ones left out. */
	readonly fields: readonly {
		readonly path: string;
		readonly cost: number;
	}[];
}

/** What is read to tell whether an object of a type may be seen. */
export type VisibilityDependencies = (
	type: string,
) => readonly VisibilityDependency[];

/** Deeply nested pages multiply past what a double holds; this much is too much anyway. */
const CAP = 1e15;

/** What a value field's cost depends on besides its parents. */
interface Enclosing {
	/** Within a connection: the edges of all its pages. */
	readonly edges: number;
	/** Within a record of a resolver's: how many objects it may name, for its lists of them. */
	readonly yields: number;
}

const NOWHERE: Enclosing = { edges: 0, yields: 1 };

export function costOf(bound: BoundPlan, guards: VisibilityDependencies): Cost {
	const steps = new Map<number, number>();
	const fields = new Map<string, number>();

	/** What a selection costs, `count` objects having it. */
	function selectionCost(
		selection: Selection,
		count: number,
		around: Enclosing,
	): number {
		let cost = 0;
		for (const field of selection.fields) {
			cost = cap(cost + fieldCost(field, selection.type, count, around));
		}
		return cost;
	}

	function fieldCost(
		field: PlannedField,
		type: string,
		count: number,
		around: Enclosing,
	): number {
		const { access: read, shape, source } = field;
		const object = namedShape(shape);
		const needsArguments = read.kind === "scan" || read.kind === "call";
		const input = needsArguments ? argumentsOf(bound, field) : null;
		// Arguments that are wrong are answered with an error, for nothing.
		if (input instanceof GraphQLError) return 0;

		if (read.kind === "scan" && input?.page) {
			const size = input.page.first ?? input.page.last ?? 0;
			const edges = read.fetch === null ? 0 : cap(count * size);
			const { hasNextPage, hasPreviousPage } = read.parts;
			const looked =
				hasNextPage || hasPreviousPage ? cap(Math.max(edges, count)) : edges;
			let own = charge(read.step, looked);
			if (read.fetch !== null) {
				own += charge(
					read.fetch,
					cap(looked * objectCost(read.mapping.to, read.mapping)),
				);
			}
			return cap(own + below(object, count, { edges, yields: 1 }));
		}
		if (read.kind === "call" && input) {
			const { resolver, step } = read;
			const own = charge(step, cap(count * cap(resolver.cost(input.args))));
			const yields = cap(resolver.maxObjects?.(input.args) ?? 1);
			const isRecord = object.kind === "object" && object.fetch === null;
			const named =
				isRecord && shape.kind !== "list" ? count : cap(count * yields);
			return cap(own + valuesCost(object, named, { edges: 0, yields }));
		}
		if (source?.kind === "page" || source?.kind === "edge") {
			// The objects are paid for by the scan.
			return shape.kind === "list"
				? below(object, around.edges, around)
				: below(object, count, around);
		}
		if (
			source?.kind === "reference" &&
			guards(type).some((guard) => guard.field === field.name)
		) {
			return below(object, count, NOWHERE);
		}
		const items = shape.kind === "list" ? cap(count * around.yields) : count;
		return valuesCost(object, items, around);
	}

	/** Values that are at hand, or objects that are named and have to be fetched, with what is selected of them. */
	function valuesCost(object: Inner, count: number, around: Enclosing): number {
		if (object.kind === "leaf") return 0;
		let each = 0;
		if (object.fetch !== null) {
			for (const type of object.selections.keys()) {
				each = Math.max(each, objectCost(type, null));
			}
			charge(object.fetch, cap(count * each));
		}
		return cap(count * each + below(object, count, around));
	}

	/** What is selected of objects: of an abstract type's, whichever concrete one costs most. */
	function below(object: Inner, count: number, around: Enclosing): number {
		if (object.kind === "leaf") return 0;
		const within = object.fetch === null ? around : NOWHERE;
		let most = 0;
		for (const selection of object.selections.values()) {
			most = Math.max(most, selectionCost(selection, count, within));
		}
		return most;
	}

	/** An object and its guards, but for those that were read on the way over `via`. */
	function objectCost(type: string, via: Mapping | null): number {
		const there =
			via?.inverse?.kind === "reference" ? via.inverse.field : undefined;
		let cost = 1;
		for (const guard of guards(type)) {
			const isThere =
				there !== undefined &&
				(guard.field === there || guard.coveredBy === there);
			if (!isThere) cost += guard.objects;
		}
		return cost;
	}

	function charge(step: Step, cost: number): number {
		steps.set(step.number, cost);
		if (cost > 0) {
			fields.set(step.path, cap((fields.get(step.path) ?? 0) + cost));
		}
		return cost;
	}

	const total = selectionCost(bound.plan.root, 1, NOWHERE);
	return {
		total,
		steps,
		fields: [...fields]
			.map(([path, cost]) => ({ path, cost }))
			.sort((a, b) => b.cost - a.cost),
	};
}

/** The limit kept, or TOO_EXPENSIVE with what to ask for less of. */
export function costLimitError(
	{ total, fields }: Cost,
	limit: number,
): GraphQLError | null {
	if (total <= limit) return null;
	const mostExpensive = fields.slice(0, 3);
	const named = mostExpensive
		.map(({ path, cost }) => `${path} (${cost})`)
		.join(", ");
	return requestError(
		new CorkboardError(
			"TOO_EXPENSIVE",
			`Expected an operation that reads at most ${limit} edges and objects but got one that may read ${total}. Most of it is ${named}.`,
		),
		{
			extensions: { cost: { requested: total, limit, fields: mostExpensive } },
		},
	);
}

/** A resolver's cost that is no number counts as too much, not as nothing. */
function cap(cost: number): number {
	return cost >= 0 ? Math.min(cost, CAP) : CAP;
}

type Inner = ReturnType<typeof namedShape>;
