import type { Store } from "../../graph/store/store.ts";
import { type Id, parseId, unpackId } from "../../id/ids.ts";
import type { ObjectType, Reference } from "../../model/types.ts";
import type { JsonObject } from "../../util/json.ts";
import { typeName } from "./places.ts";
import { describeValue } from "./storedContent.ts";

/** The object a reference leads to; null for none where there need be none; or what is wrong with it, as `its owner is not an id ("abc")`. */
export type ReferenceReading =
	| { readonly target: Id | null }
	| { readonly problem: string };

/** Reads a reference of an active object. Every object has the references that decide who sees it. */
export function readReference(
	{ model, domain }: Store,
	type: ObjectType,
	reference: Reference,
	data: JsonObject,
): ReferenceReading {
	const { field, key, target } = reference;
	const value = data[key] ?? null;
	if (value === null) {
		const { parent, owner } = domain.visibility.keysOf(type.name);
		return key === parent || key === owner
			? { problem: `its ${field} is missing` }
			: { target: null };
	}
	if (!isIdOfRow(value)) {
		return { problem: `its ${field} is not an id (${describeValue(value)})` };
	}
	const found = typeName(model, value);
	return found === target
		? { target: value }
		: {
				problem: `its ${field} ${value} is ${found === null ? "of no type" : `a ${found}`}, expected a ${target}`,
			};
}

/** Whether a stored value is an id that a row can have. */
export function isIdOfRow(value: unknown): value is Id {
	if (typeof value !== "string") return false;
	const id = parseId(value);
	return id !== "malformed" && id !== "reserved" && unpackId(id).local > 0;
}
