import { isActive } from "../../graph/read/visibilityPolicy.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Id } from "../../id/ids.ts";
import { keyFields, type ObjectType } from "../../model/types.ts";
import { PRESENT } from "../../storage/rows.ts";
import { parseJsonObject } from "../../storage/storedObject.ts";
import type { JsonObject, JsonValue } from "../../util/json.ts";
import { isOfImport } from "../import/numbering.ts";
import { DELETED, readToken } from "../import/revision.ts";
import { wholesOf } from "../import/wholes.ts";
import { IMPORT_LOOKUP } from "../lookups.ts";
import type { TablePlan } from "./plan.ts";

/** A line as an import has it. */
type BackFeedLine = JsonObject;

interface Migrated {
	readonly key: string;
	/** That the last pass left. */
	readonly version: number;
	readonly isDeletedThere: boolean;
}

/**
 * What was made, changed and deleted here and not by a migration, of the types and
 * edges of a mapping: objects with what they refer to before them, then edges. What
 * was deleted here because the old database had deleted what it hangs on is no news
 * there. Keeps the keys of all migrated objects in memory.
 */
export async function* backFeedLines(
	store: Store,
	plans: readonly TablePlan[],
): AsyncGenerator<BackFeedLine> {
	const { storage, model } = store;
	const { map } = storage;
	const migrated = new Map<Id, Migrated>();
	for (let shard = 0; shard < map.modShards; shard++) {
		for await (const rows of storage.walk("lookups", shard)) {
			for (const { name, key, id, token } of rows) {
				if (name !== IMPORT_LOOKUP) continue;
				const { rev, version } = readToken(token);
				migrated.set(id, { key, version, isDeletedThere: rev === DELETED });
			}
		}
	}
	const keyOf = (id: Id) => migrated.get(id)?.key ?? `new:${id}`;
	/** Objects that the old database deleted, and those that are deleted and hang on them. */
	const goneThere = new Set<Id>();
	for (const { kind, name } of plans) {
		const type = model.objects.get(name);
		if (kind !== "object" || type === undefined) continue;
		for (const shard of map.shards) {
			for await (const rows of storage.walk("objects", shard, name)) {
				for (const { id, data: text } of rows) {
					const data = parseJsonObject(text);
					if (data === null) continue;
					if (!isActive({ data })) {
						const hangsOn = wholesOf(store, id, data);
						if (
							migrated.get(id)?.isDeletedThere ||
							hangsOn.some((one) => goneThere.has(one))
						) {
							goneThere.add(id);
							continue;
						}
					}
					const line = objectLine(type, id, data, migrated.get(id), keyOf);
					if (line !== null) yield line;
				}
			}
		}
	}
	for (const { mapping } of plans) {
		if (mapping === null) continue;
		const places = new Set(
			map.shards.map((shard) => map.shardOfLists(mapping, shard)),
		);
		for (const shard of places) {
			for await (const rows of storage.walk("edges", shard, mapping)) {
				for (const { from, to, state, sequence } of rows) {
					if (isOfImport(sequence)) continue;
					const ends = {
						edge: mapping.name,
						from: keyOf(from),
						to: keyOf(to),
					};
					if (state === PRESENT) {
						const at = new Date(Math.floor(sequence / 1_000)).toISOString();
						yield { ...ends, at };
					} else if (
						migrated.has(from) &&
						migrated.has(to) &&
						!goneThere.has(from) &&
						!goneThere.has(to)
					) {
						yield { ...ends, deleted: true };
					}
				}
			}
		}
	}
}

/** Null for an object that is as the migration left it, or that nobody has seen. */
function objectLine(
	type: ObjectType,
	id: Id,
	data: JsonObject,
	before: Migrated | undefined,
	keyOf: (id: Id) => string,
): BackFeedLine | null {
	const isThere = isActive({ data });
	if (before === undefined && !isThere) return null;
	if (before !== undefined && data.version === before.version) return null;
	const named = { type: type.name, key: before?.key ?? `new:${id}` };
	if (!isThere) return { ...named, deleted: true };
	const fields: Record<string, JsonValue> = {};
	for (const { field, key } of [...keyFields(type), ...type.stored]) {
		fields[field] = data[key] ?? null;
	}
	for (const { field, key } of type.references) {
		const target = data[key] ?? null;
		fields[field] = target === null ? null : keyOf(target as Id);
	}
	return { ...named, fields };
}
