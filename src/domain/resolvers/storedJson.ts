import { isDeepStrictEqual } from "node:util";
import type { Node } from "../../graph/types.ts";
import type { Lookup, Mapping, Model } from "../../model/types.ts";
import type { JsonObject, JsonValue } from "../../util/json.ts";

/** Values by field, as resolvers speak of them. Null and undefined are both absence in the stored JSON. */
export type Fields = Readonly<Record<string, JsonValue | undefined>>;

/** The JSON to store for a new object. */
export function newStoredJson(
	model: Model,
	type: string,
	fields: Fields,
): JsonObject {
	const data: Record<string, JsonValue> = {};
	for (const [field, value] of Object.entries(fields)) {
		const key = keyOf(model, type, field);
		if (value !== undefined && value !== null) data[key] = value;
	}
	return data;
}

/** An object's JSON with some fields changed: undefined stays, null clears. Null if that changes nothing. */
export function updatedStoredJson(
	model: Model,
	type: string,
	data: JsonObject,
	fields: Fields,
): JsonObject | null {
	const next: Record<string, JsonValue> = { ...data };
	for (const [field, value] of Object.entries(fields)) {
		const key = keyOf(model, type, field);
		if (value === null) delete next[key];
		else if (value !== undefined) next[key] = value;
	}
	return isDeepStrictEqual(next, data) ? null : next;
}

/** What an object holds under a field; undefined if nothing. */
export function storedValue(
	model: Model,
	node: Node,
	field: string,
): JsonValue | undefined {
	return node.data[keyOf(model, node.type, field)];
}

export function mappingOf(model: Model, name: string): Mapping {
	return must(model.mappings.get(name), `mapping ${name}`);
}

export function lookupOf(model: Model, name: string): Lookup {
	return must(model.lookups.get(name), `lookup ${name}`);
}

function keyOf(model: Model, type: string, field: string): string {
	const source = model.sources.get(type)?.get(field);
	if (source?.kind === "stored" || source?.kind === "reference") {
		return source.key;
	}
	// A natural key that is not for everyone to read is stored, but has no stored field: `email`.
	const lookup = model.objects
		.get(type)
		?.lookups.find((one) => one.field === field);
	return must(lookup, `stored field ${type}.${field}`).key;
}

function must<T>(found: T | undefined, what: string): T {
	if (found === undefined) {
		throw new TypeError(`expected a model with a ${what} but got none`);
	}
	return found;
}
