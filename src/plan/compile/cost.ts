import { GraphQLError } from "graphql";
import { CorkboardError } from "../../errors.ts";
import type { VisibilityDependency } from "../../graph/domain.ts";
import type { PageArguments } from "../../graph/types.ts";
import type { Mapping } from "../../model/types.ts";
import { argumentsOf, type BoundPlan } from "../boundPlan.ts";
import { requestError } from "../errors.ts";
import {
	namedShape,
	type Plan,
	type PlannedField,
	type PlanStep,
	type ScanAccess,
	type Selection,
} from "../plan.ts";

/**
 * The most edges and objects that an operation may read with its variables.
 * Reads that caches save count too, so an operation always has the same cost.
 * Extra edges read in place of invisible ones do not count.
 *
 * - Each edge of a page costs 1 and its object 1, even if only cursors are
 *   selected: only the objects decide which edges the viewer may see. Counts
 *   and empty pages (`first: 0`) are free, except that `hasNextPage` or
 *   `hasPreviousPage` of an empty page costs an edge and its object.
 * - An object costs 1 more for each object that decides whether it is visible
 *   (its visibility dependencies), unless the way to it has read them already:
 *   objects listed under their parent do not count the parent again. A field
 *   that refers to a visibility dependency is free.
 * - A `call` states its own cost. The objects it names are counted here.
 */
export interface Cost {
	readonly total: number;
	/** The cost of each step alone, by step number. */
	readonly steps: ReadonlyMap<number, number>;
	/** The cost of each field alone, highest first, without fields that cost nothing. */
	readonly fields: readonly {
		readonly path: string;
		readonly cost: number;
	}[];
}

/** What is read to decide whether an object of a type is visible. */
export type VisibilityDependencies = (
	type: string,
) => readonly VisibilityDependency[];

/** What is read, at most, before the first page of the viewer's own list of a mapping. */
export type LookCosts = ReadonlyMap<string, number>;

const NO_LOOK_COSTS: LookCosts = new Map();

/** Costs multiply with each nested page, and must stay exact integers. This is over any limit. */
const MAX_COST = 1e15;

/** What encloses a field and affects its cost. */
interface Enclosing {
	/** Inside a connection: the edges of all its pages. */
	readonly edges: number;
	/** Inside a record from a resolver: how many objects its lists may name. */
	readonly maxObjects: number;
}

const NOTHING: Enclosing = { edges: 0, maxObjects: 1 };

type NamedShape = ReturnType<typeof namedShape>;

export function costOf(
	bound: BoundPlan,
	visibilityDependencies: VisibilityDependencies,
	lookCosts: LookCosts = NO_LOOK_COSTS,
): Cost {
	return new CostSum(bound, visibilityDependencies, lookCosts).total();
}

/** The costs of one plan, as far as they are known. */
class CostSum {
	readonly #bound: BoundPlan;
	readonly #dependenciesOf: VisibilityDependencies;
	readonly #lookCosts: LookCosts;
	readonly #steps = new Map<number, number>();
	readonly #fields = new Map<string, number>();

	constructor(
		bound: BoundPlan,
		dependenciesOf: VisibilityDependencies,
		lookCosts: LookCosts,
	) {
		this.#bound = bound;
		this.#dependenciesOf = dependenciesOf;
		this.#lookCosts = lookCosts;
	}

	total(): Cost {
		const total = this.#selectionCost(this.#bound.plan.root, 1, NOTHING);
		return {
			total,
			steps: this.#steps,
			fields: [...this.#fields]
				.map(([path, cost]) => ({ path, cost }))
				.sort((a, b) => b.cost - a.cost),
		};
	}

	/** `count` is the number of objects with the selection. */
	#selectionCost(
		selection: Selection,
		count: number,
		enclosing: Enclosing,
	): number {
		let cost = 0;
		for (const field of selection.fields) {
			cost = cap(
				cost + this.#fieldCost(field, selection.type, count, enclosing),
			);
		}
		return cost;
	}

	#fieldCost(
		field: PlannedField,
		type: string,
		count: number,
		enclosing: Enclosing,
	): number {
		const { access, shape, source } = field;
		const named = namedShape(shape);
		const hasArguments = access.kind === "scan" || access.kind === "call";
		const values = hasArguments ? argumentsOf(this.#bound, field) : null;
		// A field with invalid arguments reads nothing.
		if (values instanceof GraphQLError) return 0;

		if (access.kind === "scan" && values?.page) {
			return this.#scanCost(access, values.page, named, count);
		}
		if (access.kind === "call" && values) {
			const { resolver, step, edges } = access;
			let own = this.#charge(
				step,
				cap(count * cap(resolver.cost(values.args))),
			);
			if (edges !== undefined) {
				const each = this.#objectCost(edges.mapping.to, null);
				own = cap(own + this.#charge(edges.fetch, cap(count * each)));
			}
			const maxObjects = cap(resolver.maxObjects?.(values.args) ?? 1);
			const isRecord = named.kind === "object" && named.fetch === null;
			const results =
				isRecord && shape.kind !== "list" ? count : cap(count * maxObjects);
			return cap(
				own + this.#valuesCost(named, results, { edges: 0, maxObjects }),
			);
		}
		if (source?.kind === "page" || source?.kind === "edge") {
			// The scan counts the objects.
			return shape.kind === "list"
				? this.#belowCost(named, enclosing.edges, enclosing)
				: this.#belowCost(named, count, enclosing);
		}
		if (
			source?.kind === "reference" &&
			this.#dependenciesOf(type).some(({ field: name }) => name === field.name)
		) {
			return this.#belowCost(named, count, NOTHING);
		}
		const items =
			shape.kind === "list" ? cap(count * enclosing.maxObjects) : count;
		return this.#valuesCost(named, items, enclosing);
	}

	#scanCost(
		{ step, fetch, mapping, pageFields }: ScanAccess,
		page: PageArguments,
		named: NamedShape,
		count: number,
	): number {
		const size = page.first ?? page.last ?? 0;
		const edges = fetch === null ? 0 : cap(count * size);
		const { hasNextPage, hasPreviousPage } = pageFields;
		const edgesRead =
			hasNextPage || hasPreviousPage ? cap(Math.max(edges, count)) : edges;
		// Only the viewer's own list is added to: on top once a request, and at its end.
		const look =
			page.first !== undefined && page.before === undefined && size > 0
				? (this.#lookCosts.get(mapping.name) ?? 0)
				: 0;
		let own = this.#charge(step, cap(edgesRead + look));
		if (fetch !== null) {
			own += this.#charge(
				fetch,
				cap(edgesRead * this.#objectCost(mapping.to, mapping)),
			);
		}
		return cap(own + this.#belowCost(named, count, { edges, maxObjects: 1 }));
	}

	/** Values without a step of their own: for ids, the objects to fetch, and what is selected of them. */
	#valuesCost(named: NamedShape, count: number, enclosing: Enclosing): number {
		if (named.kind === "leaf") return 0;
		let each = 0;
		if (named.fetch !== null) {
			for (const type of named.selections.keys()) {
				each = Math.max(each, this.#objectCost(type, null));
			}
			this.#charge(named.fetch, cap(count * each));
		}
		return cap(count * each + this.#belowCost(named, count, enclosing));
	}

	/** The selections below: for an abstract type, that of the most expensive concrete type. */
	#belowCost(named: NamedShape, count: number, enclosing: Enclosing): number {
		if (named.kind === "leaf") return 0;
		const inside = named.fetch === null ? enclosing : NOTHING;
		let highest = 0;
		for (const selection of named.selections.values()) {
			highest = Math.max(
				highest,
				this.#selectionCost(selection, count, inside),
			);
		}
		return highest;
	}

	/** An object and its visibility dependencies, without those that reading `via` covers. */
	#objectCost(type: string, via: Mapping | null): number {
		const alreadyRead =
			via?.inverse?.kind === "reference" ? via.inverse.field : undefined;
		let cost = 1;
		for (const { field, objects } of this.#dependenciesOf(type)) {
			if (field !== alreadyRead) cost += objects;
		}
		return cost;
	}

	#charge(step: PlanStep, cost: number): number {
		this.#steps.set(step.number, cost);
		if (cost > 0) {
			this.#fields.set(
				step.path,
				cap((this.#fields.get(step.path) ?? 0) + cost),
			);
		}
		return cost;
	}
}

/**
 * `costOf` that keeps the last cost of each plan. It holds as long as the page
 * sizes and the costs that resolvers state for their arguments are the same:
 * nothing else of a request enters the cost.
 */
export function createCostMemo(
	visibilityDependencies: VisibilityDependencies,
	lookCosts: LookCosts = NO_LOOK_COSTS,
): (bound: BoundPlan) => Cost {
	const memo = new WeakMap<
		Plan,
		{ readonly inputs: readonly unknown[]; readonly cost: Cost }
	>();
	return (bound) => {
		const { plan } = bound;
		const inputs = costInputs(bound);
		const known = memo.get(plan);
		if (known?.inputs.every((input, at) => input === inputs[at])) {
			return known.cost;
		}
		const cost = costOf(bound, visibilityDependencies, lookCosts);
		memo.set(plan, { inputs, cost });
		return cost;
	};
}

function costInputs(bound: BoundPlan): readonly unknown[] {
	const inputs: unknown[] = [];
	for (const field of bound.plan.variableSteps) {
		const { access } = field;
		const values = argumentsOf(bound, field);
		if (values instanceof GraphQLError) inputs.push("error", null);
		else if (access.kind === "scan") {
			const { page } = values;
			inputs.push(
				page?.first ?? page?.last,
				page?.after === undefined && page?.before === undefined,
			);
		} else if (access.kind === "call") {
			const { resolver } = access;
			inputs.push(
				resolver.cost(values.args),
				resolver.maxObjects?.(values.args),
			);
		}
	}
	return inputs;
}

/** Null if the cost is within the limit, else TOO_EXPENSIVE with the most expensive fields. */
export function costLimitError(
	{ total, fields }: Cost,
	limit: number,
): GraphQLError | null {
	if (total <= limit) return null;
	const mostExpensive = fields.slice(0, 3);
	const described = mostExpensive
		.map(({ path, cost }) => `${path} (${cost})`)
		.join(", ");
	return requestError(
		new CorkboardError(
			"TOO_EXPENSIVE",
			`The operation costs ${total}, over the limit of ${limit}. Most of the cost: ${described}.`,
		),
		{
			extensions: { cost: { requested: total, limit, fields: mostExpensive } },
		},
	);
}

/** NaN from a resolver counts as too much, not as nothing. */
function cap(cost: number): number {
	return cost >= 0 ? Math.min(cost, MAX_COST) : MAX_COST;
}
