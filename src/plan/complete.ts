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
import { type Answer, ITEM } from "./response.ts";
import { fail, type Place } from "./resultNodes.ts";

/**
 * What completing one field for all its parents leaves to be done: objects
 * whose own fields come next, one list for each selection, and ids of objects
 * to fetch first.
 */
export interface Gathered {
	readonly selections: Selection[];
	readonly places: Place[][];
	readonly ids: Id[];
	/** Where each id's object goes. */
	readonly owners: Place[];
	readonly keys: (string | number)[];
}

export function gather(): Gathered {
	return { selections: [], places: [], ids: [], owners: [], keys: [] };
}

/** A field of one answer. */
export interface Completing {
	readonly field: PlannedField;
	readonly answer: Answer;
	readonly gathered: Gathered;
}

/** Put a value into its position: CompleteValue, spec §6.4.3. An error as a value is the position's error. */
export function complete(
	completing: Completing,
	shape: Shape,
	value: unknown,
	owner: Place,
	key: string | number,
): void {
	if (shape.kind === "leaf") {
		completeLeaf(completing, shape, value, owner, key);
	} else if (value instanceof Error) {
		fail(
			completing.answer,
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
			fail(
				completing.answer,
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
		completing.answer.characters += items.length * ITEM;
		owner.out[key] = out;
		const place: Place = {
			parent: owner,
			key,
			nullable: shape.nullable,
			out: out as unknown as Place["out"],
			source: null,
			dead: false,
		};
		for (let at = 0; at < items.length && !place.dead; at++) {
			complete(completing, shape.of, items[at], place, at);
		}
	} else if (shape.fetch !== null && typeof value === "string") {
		completing.gathered.ids.push(value as Id);
		completing.gathered.owners.push(owner);
		completing.gathered.keys.push(key);
	} else {
		completeObject(completing, shape, value, owner, key);
	}
}

export function completeLeaf(
	completing: Completing,
	shape: LeafShape,
	value: unknown,
	owner: Place,
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
				owner.out[key] = serialized;
				if (typeof serialized === "string") {
					completing.answer.characters += serialized.length;
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
	const { answer, field } = completing;
	fail(answer, field, owner, key, shape.nullable, error);
}

function completeNull(
	{ answer, field }: Completing,
	{ nullable }: Shape,
	owner: Place,
	key: string | number,
): void {
	if (nullable) {
		owner.out[key] = null;
		return;
	}
	const wrong = `Cannot return null for non-nullable field ${field.coordinate}.`;
	fail(
		answer,
		field,
		owner,
		key,
		nullable,
		new CorkboardError("INTERNAL", wrong),
	);
}

function completeObject(
	completing: Completing,
	shape: ObjectShape,
	value: unknown,
	owner: Place,
	key: string | number,
): void {
	const { answer, field, gathered } = completing;
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
		fail(answer, field, owner, key, shape.nullable, error);
		return;
	}
	if (selection.fault !== null) {
		fail(answer, field, owner, key, shape.nullable, selection.fault);
		return;
	}
	const out = { ...selection.template };
	answer.characters += selection.characters;
	owner.out[key] = out;
	let at = gathered.selections.indexOf(selection);
	if (at < 0) {
		at = gathered.selections.push(selection) - 1;
		gathered.places.push([]);
	}
	(gathered.places[at] as Place[]).push({
		parent: owner,
		key,
		nullable: shape.nullable,
		out,
		source: value,
		dead: false,
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
