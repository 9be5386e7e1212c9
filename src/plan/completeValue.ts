import { CorkboardError } from "../errors.ts";
import type { Node } from "../graph/types.ts";
import type { Id } from "../id/ids.ts";
import type {
	LeafShape,
	ObjectShape,
	PlannedField,
	Selection,
	Shape,
} from "./plan.ts";
import { ITEM_CHARACTERS, type ResponseState } from "./responseState.ts";
import { type ResultNode, raiseFieldError } from "./resultNode.ts";

/**
 * What remains after one field is completed for all its parents: result objects
 * whose fields execute next, and ids of objects to fetch first.
 */
export interface NextLevel {
	readonly selections: Selection[];
	/** For each selection, the objects that have it. */
	readonly nodes: ResultNode[][];
	readonly ids: Id[];
	/** For each id, the node that its object goes into. */
	readonly parents: ResultNode[];
	/** For each id, the key in that node. */
	readonly keys: (string | number)[];
}

export function newLevel(): NextLevel {
	return { selections: [], nodes: [], ids: [], parents: [], keys: [] };
}

/** One field of one response. */
export interface CompletionContext {
	readonly field: PlannedField;
	readonly response: ResponseState;
	readonly next: NextLevel;
}

/** CompleteValue (spec §6.4.3). An Error as a value is raised at its position. */
export function completeValue(
	context: CompletionContext,
	shape: Shape,
	value: unknown,
	parent: ResultNode,
	key: string | number,
): void {
	if (shape.kind === "leaf") {
		completeLeafValue(context, shape, value, parent, key);
	} else if (value instanceof Error) {
		raise(context, shape, parent, key, value);
	} else if (value === null || value === undefined) {
		completeNull(context, shape, parent, key);
	} else if (shape.kind === "list") {
		completeList(context, shape.of, shape.nullable, value, parent, key);
	} else if (shape.fetch !== null && typeof value === "string") {
		context.next.ids.push(value as Id);
		context.next.parents.push(parent);
		context.next.keys.push(key);
	} else {
		completeObject(context, shape, value, parent, key);
	}
}

export function completeLeafValue(
	context: CompletionContext,
	shape: LeafShape,
	value: unknown,
	parent: ResultNode,
	key: string | number,
): void {
	if (value === null || value === undefined) {
		completeNull(context, shape, parent, key);
		return;
	}
	let error: unknown = value;
	if (!(value instanceof Error)) {
		try {
			const serialized = shape.serialize(value);
			if (serialized !== null && serialized !== undefined) {
				parent.data[key] = serialized;
				if (typeof serialized === "string") {
					context.response.characters += serialized.length;
				}
				return;
			}
			error = new CorkboardError(
				"BAD_DATA",
				`A value of ${context.field.coordinate} serialized to null.`,
			);
		} catch (cause) {
			// The message of the cause quotes the value, so it is for the log only.
			error = new CorkboardError(
				"BAD_DATA",
				`A value of ${context.field.coordinate} cannot be serialized.`,
				{ cause },
			);
		}
	}
	raise(context, shape, parent, key, error);
}

function completeNull(
	context: CompletionContext,
	shape: Shape,
	parent: ResultNode,
	key: string | number,
): void {
	if (shape.nullable) {
		parent.data[key] = null;
		return;
	}
	const error = new CorkboardError(
		"INTERNAL",
		`Cannot return null for non-nullable field ${context.field.coordinate}.`,
	);
	raise(context, shape, parent, key, error);
}

function completeList(
	context: CompletionContext,
	itemShape: Shape,
	nullable: boolean,
	value: unknown,
	parent: ResultNode,
	key: string | number,
): void {
	if (!isIterable(value)) {
		const error = new CorkboardError(
			"BAD_DATA",
			`${context.field.coordinate} must be a list, got ${typeof value}.`,
		);
		raise(context, { nullable }, parent, key, error);
		return;
	}
	const items = Array.isArray(value) ? value : [...value];
	const data: unknown[] = [];
	for (let index = 0; index < items.length; index++) data.push(null);
	context.response.characters += items.length * ITEM_CHARACTERS;
	parent.data[key] = data;
	const list: ResultNode = {
		parent,
		key,
		nullable,
		data: data as unknown as ResultNode["data"],
		source: null,
		isNulled: false,
	};
	for (let index = 0; index < items.length && !list.isNulled; index++) {
		completeValue(context, itemShape, items[index], list, index);
	}
}

function completeObject(
	context: CompletionContext,
	shape: ObjectShape,
	value: unknown,
	parent: ResultNode,
	key: string | number,
): void {
	const { response, field, next } = context;
	const selection =
		shape.fetch === null
			? (shape.only ?? shape.selections.get(typenameOf(value)))
			: selectionOf(shape, value as Node);
	if (selection === undefined) {
		if (shape.fetch !== null && isNode(value)) {
			// An id of an object of another type names nothing here.
			completeNull(context, shape, parent, key);
			return;
		}
		const error = new CorkboardError(
			"BAD_DATA",
			`${field.coordinate} must be an object, got ${typeof value}.`,
		);
		raise(context, shape, parent, key, error);
		return;
	}
	if (selection.error !== null) {
		raise(context, shape, parent, key, selection.error);
		return;
	}
	const data = { ...selection.template };
	response.characters += selection.characters;
	parent.data[key] = data;
	let index = next.selections.indexOf(selection);
	if (index < 0) {
		index = next.selections.push(selection) - 1;
		next.nodes.push([]);
	}
	(next.nodes[index] as ResultNode[]).push({
		parent,
		key,
		nullable: shape.nullable,
		data,
		source: value,
		isNulled: false,
	});
}

function raise(
	{ response, field }: CompletionContext,
	{ nullable }: { readonly nullable: boolean },
	parent: ResultNode,
	key: string | number,
	error: unknown,
): void {
	raiseFieldError(response, field, parent, key, nullable, error);
}

function selectionOf(
	{ only, selections }: ObjectShape,
	{ type }: Node,
): Selection | undefined {
	if (only === null) return selections.get(type);
	return only.type === type ? only : undefined;
}

function isNode(value: unknown): value is Node {
	return typeof value === "object" && value !== null && "type" in value;
}

/** A record of an abstract type names its concrete type. */
function typenameOf(record: unknown): string {
	return typeof record === "object" && record !== null && "__typename" in record
		? String(record.__typename)
		: "";
}

function isIterable(value: unknown): value is Iterable<unknown> {
	return (
		typeof value === "object" && value !== null && Symbol.iterator in value
	);
}
