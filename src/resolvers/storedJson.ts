import { isDeepStrictEqual } from "node:util";
import type { Node } from "../graph/types.ts";
import type { RequestContext } from "../graphql/context.ts";
import { type Id, parseStoredId } from "../id/ids.ts";
import {
	keyFields,
	type Lookup,
	type Mapping,
	type Model,
	type ObjectType,
} from "../model/types.ts";
import type { JsonObject, JsonValue } from "../util/json.ts";

/** Values by field of the SDL. Null and undefined both mean that the stored JSON lacks the key. */
export type Fields = Readonly<Record<string, JsonValue | undefined>>;

type NewObjectContext = {
	readonly graph: Pick<RequestContext["graph"], "model">;
} & Pick<RequestContext, "fields">;

/**
 * The JSON to store for a new object. A field without a value gets that of its
 * policy's `defaultFrom`, or the default of the SDL where it is non-null.
 */
export function newStoredJson(
	{ graph: { model }, fields: policies }: NewObjectContext,
	type: string,
	fields: Fields,
): JsonObject {
	const defaults = new Map(
		model.objects
			.get(type)
			?.stored.filter(({ nullable, required }) => !nullable && !required)
			.map((stored) => [stored.field, stored.default]),
	);
	const data: Record<string, JsonValue> = {};
	for (const [field, given] of Object.entries(fields)) {
		const source = policies[type]?.[field]?.defaultFrom;
		const fallback =
			source === undefined ? defaults.get(field) : fields[source];
		const value = given ?? fallback;
		const key = keyOf(model, type, field);
		if (value !== undefined && value !== null) data[key] = value;
	}
	return data;
}

/** An object's JSON with some fields changed: undefined keeps, null clears. Null if nothing changes. */
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

/** What an object stores for a field; undefined for nothing. */
export function storedValue(
	model: Model,
	node: Node,
	field: string,
): JsonValue | undefined {
	return node.data[keyOf(model, node.type, field)];
}

const NO_FIELDS: Pick<ObjectType, "stored" | "lookups"> = {
	stored: [],
	lookups: [],
};

/** What an object stores, by field, without its references, which say where it belongs, and its natural keys, which nothing else may have. */
export function storedFields(model: Model, node: Node): Fields {
	const { stored, lookups } = model.objects.get(node.type) ?? NO_FIELDS;
	const keys = new Set(keyFields({ lookups }).map(({ key }) => key));
	return Object.fromEntries(
		stored
			.filter(({ key }) => !keys.has(key))
			.map(({ field, key }) => [field, node.data[key]]),
	);
}

/** The id that an object stores for a reference; null for none. */
export function referenceOf(
	model: Model,
	node: Node,
	field: string,
): Id | null {
	const value = storedValue(model, node, field);
	return typeof value === "string" ? parseStoredId(value) : null;
}

export function mappingOf(model: Model, name: string): Mapping {
	return requireInModel(model.mappings.get(name), `mapping ${name}`);
}

export function lookupOf(model: Model, name: string): Lookup {
	return requireInModel(model.lookups.get(name), `lookup ${name}`);
}

function keyOf(model: Model, type: string, field: string): string {
	const source = model.sources.get(type)?.get(field);
	if (source?.kind === "stored" || source?.kind === "reference") {
		return source.key;
	}
	// A natural key that not everyone may read is stored but has a resolver: `email`.
	const own = keyFields(model.objects.get(type) ?? NO_FIELDS).find(
		(one) => one.field === field,
	);
	return requireInModel(own, `stored field ${type}.${field}`).key;
}

function requireInModel<T>(found: T | undefined, what: string): T {
	if (found === undefined) {
		throw new TypeError(`The model has no ${what}.`);
	}
	return found;
}
