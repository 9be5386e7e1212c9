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
 * What completing one field for all its parents leaves to be done: objects
 * whose own fields come next, one list for each selection, and ids of objects
 * to fetch first.
 */
export interface NextLevel {
	readonly selections: Selection[];
	readonly nodes: ResultNode[][];
	readonly ids: Id[];
	/** Where each id's object goes. */
	readonly owners: ResultNode[];
	readonly keys: (string | number)[];
}

export function newLevel(): NextLevel {
	return { selections: [], nodes: [], ids: [], owners: [], keys: [] };
}

/** A field of one answer. */
export interface CompletionContext {
	readonly field: PlannedField;
	readonly response: ResponseState;
	readonly next: NextLevel;
}

/** Put a value into its position: CompleteValue, spec §6.4.3. An error as a value is the position's error. */
export function completeValue(
	completing: CompletionContext,
	shape: Shape,
	value: unknown,
	owner: ResultNode,
	key: string | number,
): void {
	if (shape.kind === "leaf") {
		completeLeafValue(completing, shape, value, owner, key);
	} else if (value instanceof Error) {
		raiseFieldError(
			completing.response,
			completing.field,
			owner,
			key,
			shape.nullable,
			value,
		);
	} else if (value === null || value === undefined) {
		completeNull(completing, shape, owner, key);
	} else if (shape.kind === "list") {
		if (!isIterable(value)) {
			const wrong = `Expected a list for ${completing.field.coordinate} but got: ${typeof value}.`;
			const error = new CorkboardError("BAD_DATA", wrong);
			raiseFieldError(
				completing.response,
				completing.field,
				owner,
				key,
				shape.nullable,
				error,
			);
			return;
		}
		const items = Array.isArray(value) ? value : [...value];
		const out: unknown[] = [];
		for (let at = 0; at < items.length; at++) out.push(null);
		completing.response.characters += items.length * ITEM_CHARACTERS;
		owner.data[key] = out;
		const place: ResultNode = {
			parent: owner,
			key,
			nullable: shape.nullable,
			data: out as unknown as ResultNode["data"],
			source: null,
			isNulled: false,
		};
		for (let at = 0; at < items.length && !place.isNulled; at++) {
			completeValue(completing, shape.of, items[at], place, at);
		}
	} else if (shape.fetch !== null && typeof value === "string") {
		completing.next.ids.push(value as Id);
		completing.next.owners.push(owner);
		completing.next.keys.push(key);
	} else {
		completeObject(completing, shape, value, owner, key);
	}
}

export function completeLeafValue(
	completing: CompletionContext,
	shape: LeafShape,
	value: unknown,
	owner: ResultNode,
	key: string | number,
): void {
	if (value === null || value === undefined) {
		completeNull(completing, shape, owner, key);
		return;
	}
	let error: unknown = value;
	if (!(value instanceof Error)) {
		try {
			const serialized = shape.serialize(value);
			if (serialized !== null && serialized !== undefined) {
				owner.data[key] = serialized;
				if (typeof serialized === "string") {
					completing.response.characters += serialized.length;
				}
				return;
			}
			error = new CorkboardError("BAD_DATA", "A scalar serialized to null.");
		} catch (cause) {
			// Its words quote the value, which may be anything: for the log alone.
			const wrong = `A value of ${completing.field.coordinate} does not serialize.`;
			error = new CorkboardError("BAD_DATA", wrong, { cause });
		}
	}
	const { response: answer, field } = completing;
	raiseFieldError(answer, field, owner, key, shape.nullable, error);
}

function completeNull(
	{ response: answer, field }: CompletionContext,
	{ nullable }: Shape,
	owner: ResultNode,
	key: string | number,
): void {
	if (nullable) {
		owner.data[key] = null;
		return;
	}
	const wrong = `Cannot return null for non-nullable field ${field.coordinate}.`;
	raiseFieldError(
		answer,
		field,
		owner,
		key,
		nullable,
		new CorkboardError("INTERNAL", wrong),
	);
}

function completeObject(
	completing: CompletionContext,
	shape: ObjectShape,
	value: unknown,
	owner: ResultNode,
	key: string | number,
): void {
	const { response: answer, field, next: gathered } = completing;
	const selection =
		shape.fetch === null
			? (shape.only ?? shape.selections.get(typenameOf(value)))
			: selectionOf(shape, value as Node);
	if (selection === undefined) {
		if (shape.fetch !== null && isNode(value)) {
			// An object of a type that does not fit here names nothing here.
			completeNull(completing, shape, owner, key);
			return;
		}
		const wrong = `Expected an object for ${field.coordinate} but got: ${typeof value}.`;
		const error = new CorkboardError("BAD_DATA", wrong);
		raiseFieldError(answer, field, owner, key, shape.nullable, error);
		return;
	}
	if (selection.error !== null) {
		raiseFieldError(answer, field, owner, key, shape.nullable, selection.error);
		return;
	}
	const out = { ...selection.template };
	answer.characters += selection.characters;
	owner.data[key] = out;
	let at = gathered.selections.indexOf(selection);
	if (at < 0) {
		at = gathered.selections.push(selection) - 1;
		gathered.nodes.push([]);
	}
	(gathered.nodes[at] as ResultNode[]).push({
		parent: owner,
		key,
		nullable: shape.nullable,
		data: out,
		source: value,
		isNulled: false,
	});
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

/** A record of an abstract type says which it is of. */
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
