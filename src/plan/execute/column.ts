import { GraphQLError } from "graphql";
import { asCorkboardError, type CorkboardError } from "../../errors.ts";
import type { Graph, Node } from "../../graph/types.ts";
import type { Id } from "../../id/ids.ts";
import type { CallOptions } from "../../trace.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import { argumentsOf, type BoundPlan } from "../boundPlan.ts";
import {
	type ObjectShape,
	type PlannedField,
	type Selection,
	type Shape,
	selectionOf,
} from "../plan.ts";
import {
	checkResponseSize,
	ITEM_CHARACTERS,
	type ResponseState,
} from "../responseState.ts";
import type { StepRun, StepRunner } from "./stepRunner.ts";

/** What the columns of one execution share. */
export interface ColumnContext {
	readonly bound: BoundPlan;
	/** Passed to resolvers. */
	readonly context: { readonly graph: Graph };
	readonly response: ResponseState;
	readonly steps: StepRunner;
	/** Called with a level whose columns can start. */
	readonly enqueue: (level: Level) => void;
}

/** All objects of the response that one field of a plan leads to and that have one selection. */
export class Level {
	readonly selection: Selection;
	/** What the fields of each object are read from. */
	readonly sources: readonly unknown[];
	/** By `PlannedField.column`. */
	readonly columns: readonly Column[];

	constructor(
		execution: ColumnContext,
		selection: Selection,
		sources: readonly unknown[],
	) {
		this.selection = selection;
		this.sources = sources;
		this.columns = selection.columns.map(
			(field) => new Column(execution, field, sources),
		);
	}

	start(): void {
		for (const column of this.columns) column.start();
	}
}

/**
 * The results of one field for all objects of a level. If they lead to
 * further objects, those are the levels below. What has no objects below it, and
 * can be read from its parent, has no column: the writer reads it.
 */
export class Column implements StepRun {
	readonly field: PlannedField;
	/** One for each parent; none if there is an `error`. */
	values: readonly unknown[] = [];
	/** The error of all parents. */
	error: CorkboardError | GraphQLError | null = null;
	/** The objects in the values of all parents, depth-first, without nulls in lists; in place of an id, what was fetched. */
	objects: readonly unknown[] = [];
	/** For each parent, the index of its first object; null if the value of each parent is its object. */
	starts: readonly number[] | null = null;
	readonly levels: Level[] = [];
	/** For each object, its row in its level, or -1 for none; null if all are in the only level, in order. */
	rows: number[] | null = null;
	/** For each object, the index of its level; null if there is one at most. */
	levelOf: number[] | null = null;
	readonly #execution: ColumnContext;
	readonly #parents: readonly unknown[];

	constructor(
		execution: ColumnContext,
		field: PlannedField,
		parents: readonly unknown[],
	) {
		this.#execution = execution;
		this.field = field;
		this.#parents = parents;
	}

	/** ExecuteField (spec §6.4) for all parents. */
	start(): void {
		const { bound, steps } = this.#execution;
		const { access } = this.field;
		const values = argumentsOf(bound, this.field);
		if (values instanceof GraphQLError) {
			this.error = values;
			return;
		}
		switch (access.kind) {
			case "value":
				this.accept(this.#parents.map((parent) => read(access.of, parent)));
				return;
			case "scan": {
				const { globalListId, step } = access;
				const owners = this.#parents.map(
					(parent) => globalListId ?? (parent as Node).id,
				);
				steps.run(step, owners, this);
				return;
			}
			case "call":
				steps.run(access.step, this.#parents as readonly (Node | null)[], this);
		}
	}

	/** Called by the `StepRunner` that `start` gave the step to: reads the lists, or calls the resolver. */
	run(
		parents: readonly unknown[],
		call: CallOptions,
	): MaybePromise<readonly unknown[]> {
		const { bound, context } = this.#execution;
		const { access } = this.field;
		const { args, page } = argumentsOf(bound, this.field) as Exclude<
			ReturnType<typeof argumentsOf>,
			GraphQLError
		>;
		if (access.kind === "scan" && page !== null) {
			const { mapping } = access;
			const lists = parents as readonly Id[];
			return context.graph.readPages(mapping, lists, page, call);
		}
		if (access.kind !== "call") {
			throw new TypeError(`${this.field.coordinate} is not a step`);
		}
		const nodes = parents as readonly (Node | null)[];
		return access.resolver.resolve({ parents: nodes, args, context, call });
	}

	accept(values: readonly unknown[]): void {
		this.values = values;
		const { shape, objectShape } = this.field;
		if (objectShape === null) return;
		if (shape.kind === "object") this.#fetch(objectShape, values);
		else this.#fetch(objectShape, this.#collect(shape));
	}

	reject(error: CorkboardError): void {
		this.error = error;
	}

	/** The objects in lists. */
	#collect(shape: Shape): readonly unknown[] {
		const { response } = this.#execution;
		const objects: unknown[] = [];
		const starts: number[] = [];
		let replaced: unknown[] | null = null;
		for (let row = 0; row < this.values.length; row++) {
			const value = this.values[row];
			starts.push(objects.length);
			const kept = collect(shape, value, objects, response);
			if (kept !== value) {
				replaced ??= [...this.values];
				replaced[row] = kept;
			}
		}
		this.starts = starts;
		if (replaced !== null) this.values = replaced;
		checkResponseSize(response);
		return objects;
	}

	/** Replaces ids with objects. */
	#fetch(shape: ObjectShape, objects: readonly unknown[]): void {
		const { steps, context } = this.#execution;
		const ids =
			shape.fetch === null
				? []
				: objects.filter((object) => typeof object === "string");
		if (shape.fetch === null || ids.length === 0) {
			this.#fillLevels(shape, objects);
			return;
		}
		const replaceIds = (of: (at: number) => unknown) => {
			let at = 0;
			return objects.map((object) =>
				typeof object === "string" ? of(at++) : object,
			);
		};
		steps.run(shape.fetch, ids as Id[], {
			run: (wanted, call) =>
				context.graph.readObjects(wanted as readonly Id[], call),
			accept: (fetched) =>
				this.#fillLevels(
					shape,
					ids.length === objects.length
						? fetched
						: replaceIds((at) => fetched[at]),
				),
			reject: (error) =>
				this.#fillLevels(
					shape,
					replaceIds(() => error),
				),
		});
	}

	/** Puts each object into the level of its selection. */
	#fillLevels(shape: ObjectShape, objects: readonly unknown[]): void {
		this.objects = objects;
		const { only } = shape;
		if (only !== null && objects.every((one) => isOf(shape, one))) {
			if (only.error === null) this.#addLevel(only, objects);
			else this.rows = objects.map(() => -1);
		} else {
			this.#divide(shape, objects);
		}
		checkResponseSize(this.#execution.response);
	}

	/** For objects of several types, and objects that are not there. */
	#divide(shape: ObjectShape, objects: readonly unknown[]): void {
		const selections: Selection[] = [];
		const sources: unknown[][] = [];
		const levelOf: number[] = [];
		this.rows = objects.map((object) => {
			const selection = isObject(object) ? selectionOf(shape, object) : null;
			if (!selection || selection.error !== null) {
				levelOf.push(-1);
				return -1;
			}
			let at = selections.indexOf(selection);
			if (at < 0) {
				at = selections.push(selection) - 1;
				sources.push([]);
			}
			levelOf.push(at);
			return (sources[at] as unknown[]).push(object) - 1;
		});
		if (selections.length > 1) this.levelOf = levelOf;
		for (const [at, selection] of selections.entries()) {
			this.#addLevel(selection, sources[at] as unknown[]);
		}
	}

	#addLevel(selection: Selection, sources: readonly unknown[]): void {
		if (sources.length === 0) return;
		const { response, enqueue } = this.#execution;
		response.characters += sources.length * selection.characters;
		for (const { access } of selection.repeatedTexts) {
			if (access.kind !== "value") continue;
			for (const source of sources) {
				const text = read(access.of, source);
				if (typeof text === "string") response.characters += text.length;
			}
		}
		const level = new Level(this.#execution, selection, sources);
		this.levels.push(level);
		enqueue(level);
	}
}

/** Adds the objects in a list. Returns the value, with arrays in place of other iterables, which may not be read twice. */
function collect(
	shape: Shape,
	value: unknown,
	objects: unknown[],
	response: ResponseState,
): unknown {
	if (!isObject(value)) return value;
	if (shape.kind !== "list") {
		objects.push(value);
		return value;
	}
	if (!isIterable(value)) return value;
	let items: unknown[] | readonly unknown[] = Array.isArray(value)
		? value
		: [...value];
	let isCopy = items !== value;
	response.characters += items.length * ITEM_CHARACTERS;
	for (let index = 0; index < items.length; index++) {
		const item = items[index];
		const kept = collect(shape.of, item, objects, response);
		if (kept === item) continue;
		if (!isCopy) items = [...items];
		isCopy = true;
		(items as unknown[])[index] = kept;
	}
	return items;
}

/** Whether a value completes to an object, or to an id that is fetched. */
export function isObject(value: unknown): boolean {
	return value !== null && value !== undefined && !(value instanceof Error);
}

/** Whether an object has the only selection of its shape. */
function isOf({ only, fetch }: ObjectShape, object: unknown): boolean {
	if (fetch === null) return isObject(object);
	return (object as Node | null)?.type === only?.type;
}

export function isIterable(value: unknown): value is Iterable<unknown> {
	return (
		typeof value === "object" && value !== null && Symbol.iterator in value
	);
}

function read(of: (source: unknown) => unknown, source: unknown): unknown {
	try {
		return of(source);
	} catch (thrown) {
		return asCorkboardError(thrown);
	}
}
