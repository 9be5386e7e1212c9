import { createHash } from "node:crypto";
import { type Id, packId } from "../id/ids.ts";
import type { JsonObject, JsonValue } from "../util/json.ts";

/**
 * The model: the SDL read once, as frozen plain data. Storage, caches, plans and
 * resolvers use the model; none of them reads the SDL.
 */
export interface Model {
	/** By type name: `User`. */
	readonly objects: ReadonlyMap<string, ObjectType>;
	/** By the type number in ids. */
	readonly objectsByNumber: ReadonlyMap<number, ObjectType>;
	/** By edge name: `likePin`, `likePin.inverse`. */
	readonly mappings: ReadonlyMap<string, Mapping>;
	/** By lookup name: `username`. */
	readonly lookups: ReadonlyMap<string, Lookup>;
	/** Where the value of each output field comes from, by type and field name. */
	readonly sources: ReadonlyMap<string, ReadonlyMap<string, FieldSource>>;
}

/** A type with rows of its own. */
export interface ObjectType {
	readonly name: string;
	readonly number: number;
	readonly table: string;
	readonly stored: readonly StoredField[];
	readonly references: readonly Reference[];
	readonly lookups: readonly Lookup[];
	/** Mappings whose lists belong to objects of this type. */
	readonly mappings: readonly Mapping[];
	/** Mappings of other types whose lists are derived from a reference of this type. */
	readonly derivedMappings: readonly Mapping[];
	/** Mappings of the whole graph that list every object of this type. */
	readonly globalMappings: readonly Mapping[];
	/** Mappings of the whole graph with a list for each beginning of the names of objects of this type. */
	readonly prefixMappings: readonly Mapping[];
}

export interface StoredField {
	readonly field: string;
	/** The key in the stored JSON. */
	readonly key: string;
	/** The value if the key is absent; null for a nullable field without a default. */
	readonly default: JsonValue;
	readonly nullable: boolean;
	/** Whether a new object must be given a value: the default is `""`, which answers for old rows only. */
	readonly required: boolean;
	/** The types of what is stored, without `!`, by path in the JSON: `image` an `Image`, `image.url` a `String`. */
	readonly typesByPath: ReadonlyMap<string, string>;
}

export interface Reference {
	readonly field: string;
	/** The key in the stored JSON, whose value is an id. */
	readonly key: string;
	/** The name of the type that it leads to. */
	readonly target: string;
}

export interface Lookup {
	readonly name: string;
	/** The type that it finds. */
	readonly type: string;
	/** The fields that hold the natural key: one, or several whose values are the key together. */
	readonly parts: readonly KeyPart[];
	readonly fold: "CASE" | "NONE";
}

export interface KeyPart {
	readonly field: string;
	/** The key in the stored JSON. */
	readonly key: string;
	/** What a row without a value has, if the key has several parts; null for nothing. */
	readonly default: JsonValue;
	/** Whether the value is the id of another object. */
	readonly isReference: boolean;
}

/** A natural key as it is asked for: the value, or those of its parts by field. */
export type GivenKey = string | Readonly<Record<string, JsonValue | undefined>>;

export type MappingOrder =
	| "NEWEST_FIRST"
	| "OLDEST_FIRST"
	| "POSITION"
	| "LOWEST_FIRST"
	| "HIGHEST_FIRST";

/** The stored field of its objects by which a list is ordered. */
export interface OrderingField
	extends Pick<StoredField, "field" | "key" | "default"> {
	readonly type: "DateTime" | "Int";
}

export interface Mapping {
	readonly name: string;
	readonly table: string;
	/** The type whose objects own the lists; null for a list of the whole graph, whose owner is `globalListId`, or lists by prefix. */
	readonly from: string | null;
	/** For lists by prefix: the keys of the stored texts whose beginnings have lists. Null for all others. */
	readonly prefixKeys: readonly string[] | null;
	/** The type that the edges lead to. */
	readonly to: string;
	/** The connection field that reads the list. */
	readonly field: string;
	readonly order: MappingOrder;
	readonly inverse: Inverse | null;
	/** Its lists are in the feed database of their shard, if that has one. Absent for all others. */
	readonly place?: "FEEDS";
	/**
	 * Set for a list that follows a reference and is grouped by another reference
	 * of its objects: it has only those with one, and what leads to the same object
	 * stands together. Read by group, not page by page.
	 */
	readonly groupedBy?: Pick<Reference, "field" | "key">;
	/**
	 * Set for a list that follows a reference and is LOWEST_FIRST or HIGHEST_FIRST: the
	 * sequence of each edge is made of this field, and changes with it.
	 */
	readonly orderedBy?: OrderingField;
}

/**
 * The other side of a mapping, which holds the same fact.
 *
 * - `target`: this mapping is the source; each change is delivered to the named one.
 * - `source`: the named mapping is the source; each change is delivered to this one.
 * - `reference`: the object at `to` names this list's owner under `key`. The
 *   object is the source, and this list is derived from it.
 */
export type Inverse =
	| { readonly kind: "target"; readonly mapping: string }
	| { readonly kind: "source"; readonly mapping: string }
	| {
			readonly kind: "reference";
			readonly field: string;
			readonly key: string;
	  };

/** Where an output field gets its value. Every field has exactly one source. */
export type FieldSource =
	/** The object's own id. */
	| { readonly kind: "id" }
	| {
			readonly kind: "stored";
			readonly key: string;
			readonly default: JsonValue;
	  }
	| {
			readonly kind: "reference";
			readonly key: string;
			readonly target: string;
	  }
	/** A connection: one page of the mapping's list. */
	| { readonly kind: "mapping"; readonly mapping: string }
	/** A hand-written batch resolver. */
	| { readonly kind: "resolver" }
	/** A property of the parent's value: of a payload, an image, a page info. An object is given as its id. */
	| { readonly kind: "property" }
	/** The edge of a mapping between two other fields of the same record: a payload's new edge. */
	| {
			readonly kind: "payloadEdge";
			readonly mapping: string;
			/** The fields that hold the ids of the list's owner and of the object. */
			readonly from: string;
			readonly to: string;
	  }
	/** A part of a page: `edges`, `nodes`, `pageInfo`, `totalCount` of a connection. */
	| {
			readonly kind: "page";
			readonly part: "edges" | "nodes" | "pageInfo" | "totalCount";
	  }
	/** A part of an edge. `at` is when it was created, whatever the SDL calls that field. */
	| { readonly kind: "edge"; readonly part: "node" | "cursor" | "at" };

/** A natural key as lookup rows hold it: "Ada" and "ada" are one username. Null if a part of it is missing. */
export function normalizeKey(lookup: Lookup, given: GivenKey): string | null {
	return composeKey(
		lookup,
		typeof given === "string"
			? [given]
			: lookup.parts.map(({ field }) => given[field]),
	);
}

/** The natural key that an object with this content has; null if it lacks a part. */
export function keyOfContent(lookup: Lookup, data: JsonObject): string | null {
	return composeKey(
		lookup,
		lookup.parts.map((part) => data[part.key] ?? part.default),
	);
}

/** Those of a type's fields whose value is a natural key by itself. */
export function keyFields({
	lookups,
}: Pick<ObjectType, "lookups">): readonly KeyPart[] {
	return lookups.flatMap(({ parts }) => (parts.length === 1 ? parts : []));
}

/** Longest text of a key of several parts, in bytes. A longer one is stored as its hash, so that no limit of an index is met. */
const LONGEST_KEY = 700;

/** Several parts are written as a JSON list: no value of one can make it another list. A hash begins with #, which no list does. */
function composeKey(
	{ parts, fold }: Lookup,
	values: readonly (JsonValue | undefined)[],
): string | null {
	const folded = values.map((value) =>
		typeof value === "string" && fold === "CASE" ? value.toLowerCase() : value,
	);
	if (folded.length !== parts.length) return null;
	if (parts.length === 1) {
		return typeof folded[0] === "string" ? folded[0] : null;
	}
	if (folded.some((value) => value === null || typeof value === "undefined")) {
		return null;
	}
	const text = JSON.stringify(folded);
	return Buffer.byteLength(text) <= LONGEST_KEY
		? text
		: `#${createHash("sha256").update(text).digest("base64url")}`;
}

/**
 * The id that owns the list of a mapping of the whole graph. No object has it:
 * local ids of rows start at 1. It is on shard 0, with all edges of the list.
 */
export function globalListId(model: Model, mapping: Mapping): Id {
	const target = model.objects.get(mapping.to);
	if (
		mapping.from !== null ||
		mapping.prefixKeys !== null ||
		target === undefined
	) {
		throw new TypeError(`${mapping.name} is not a list of the whole graph.`);
	}
	return globalListIdOf(target);
}

/** The same for the lists of all objects of a type. */
export function globalListIdOf({ number }: Pick<ObjectType, "number">): Id {
	return packId({ shard: 0, type: number, local: 0 });
}
