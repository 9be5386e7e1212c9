import { hash } from "node:crypto";
import { type Id, MAX_LOCAL, packId, unpackId } from "../../id/ids.ts";
import { prefixesOf } from "../../model/prefixes.ts";
import {
	globalListIdOf,
	type Mapping,
	type ObjectType,
} from "../../model/types.ts";
import { modShard } from "../../storage/modShard.ts";
import { sequenceOfGroup, sequenceOfValue } from "../../storage/order.ts";
import type { ListKey } from "../../storage/rows.ts";
import type { Storage } from "../../storage/storage.ts";
import type { JsonObject } from "../../util/json.ts";
import type { Store } from "./store.ts";

/** Prefixes with the same beginning of this length, in code points, lie on one shard, so that a new name changes lists on few. */
const SHARD_PREFIX = 3;

/**
 * The lists that an object with this content is on, because of it: those of the
 * objects that it refers to, those of all objects of its type, and those of the
 * beginnings of its names. None for a deleted object.
 */
export function derivedLists(
	store: Store,
	type: ObjectType,
	data: JsonObject,
): readonly ListKey[] {
	if (data.active === false) return [];
	const lists: ListKey[] = [];
	for (const mapping of type.derivedMappings) {
		const from = listByReference(mapping, data);
		if (from !== null) lists.push({ mapping, from });
	}
	for (const mapping of type.globalMappings) {
		lists.push({ mapping, from: globalListIdOf(type) });
	}
	for (const mapping of type.prefixMappings) {
		// An object that nobody may see is on none, so that it crowds out no other.
		if (!store.domain.visibility.isPublic(type.name, data)) continue;
		for (const prefix of prefixesOf(prefixTexts(mapping, data))) {
			lists.push({ mapping, from: prefixListId(store, type, prefix) });
		}
	}
	return lists;
}

/** Null for an object that refers to nothing, or is in no group of a list that is grouped. */
function listByReference(
	{ inverse, groupedBy }: Mapping,
	data: JsonObject,
): Id | null {
	if (inverse?.kind !== "reference") return null;
	const from = data[inverse.key];
	const isInGroup =
		groupedBy === undefined || typeof data[groupedBy.key] === "string";
	return typeof from === "string" && isInGroup ? (from as Id) : null;
}

/** The sequence of an object with this content on its list of a derived mapping; null if the list decides: unless it is grouped, or ordered by a field. */
export function sequenceByContent(
	mapping: Mapping,
	content: JsonObject,
): number | null {
	const { groupedBy, orderedBy } = mapping;
	if (groupedBy !== undefined) {
		return sequenceOfGroup(content[groupedBy.key] as Id);
	}
	return orderedBy === undefined
		? null
		: sequenceOfValue(mapping, orderedBy, content);
}

/** Whether an object of the type that the mapping leads to is on the list of `from`, because of its content. */
export function isOnList(
	store: Store,
	mapping: Mapping,
	data: JsonObject,
	from: Id,
): boolean {
	const type = store.model.objects.get(mapping.to);
	if (type === undefined) return false;
	if (mapping.prefixKeys === null) {
		return derivedLists(store, type, data).some(
			(list) => list.mapping === mapping && list.from === from,
		);
	}
	// As `derivedLists`, but of each prefix first what needs no shard.
	const { local } = unpackId(from);
	return (
		data.active !== false &&
		store.domain.visibility.isPublic(type.name, data) &&
		[...prefixesOf(prefixTexts(mapping, data))].some(
			(prefix) =>
				localOf(prefix) === local && prefixListId(store, type, prefix) === from,
		)
	);
}

/** The texts of an object whose beginnings have lists. */
export function prefixTexts(
	{ prefixKeys }: Mapping,
	data: JsonObject,
): readonly string[] {
	return (prefixKeys ?? [])
		.map((key) => data[key])
		.filter((value) => typeof value === "string");
}

/**
 * The id that owns the list of a prefix, on the mod shard of its beginning. It is
 * no object's, though its number may be: its table has no other lists. Two
 * prefixes may share it, by a hash of 36 bits: readers compare the names.
 */
export function prefixListId(
	{ storage }: { readonly storage: Pick<Storage, "map"> },
	{ number }: Pick<ObjectType, "number">,
	prefix: string,
): Id {
	const beginning = [...prefix].slice(0, SHARD_PREFIX).join("");
	return packId({
		shard: modShard(beginning, storage.map.modShards),
		type: number,
		local: localOf(prefix),
	});
}

function localOf(prefix: string): number {
	return 1 + (hash("sha256", prefix, "buffer").readUIntBE(0, 6) % MAX_LOCAL);
}
