import { CorkboardError } from "../errors.ts";
import { type Id, MAX_LOCAL, packId, unpackId } from "../id/ids.ts";
import type { ObjectType } from "../model/types.ts";
import type { JsonObject } from "../util/json.ts";

/** The id of a row that was just inserted. */
export function newObjectId(
	shard: number,
	type: ObjectType,
	local: number,
): Id {
	if (local > MAX_LOCAL) {
		throw new CorkboardError(
			"INTERNAL",
			`Shard ${shard} is full: the next local id of ${type.table} is ${local}, the largest possible one ${MAX_LOCAL}.`,
		);
	}
	return packId({ shard, type: type.number, local });
}

/** Throws INTERNAL if the text is not a JSON object. */
export function parseStoredObject(id: Id, text: string): JsonObject {
	const data = parseJsonObject(text);
	if (data !== null) return data;
	const { shard, type, local } = unpackId(id);
	throw new CorkboardError(
		"INTERNAL",
		`The stored data of object ${id} (shard ${shard}, type ${type}, row ${local}) is not a JSON object.`,
	);
}

/** Null for text that is not a JSON object. */
export function parseJsonObject(text: string): JsonObject | null {
	try {
		const data: unknown = JSON.parse(text);
		return typeof data === "object" && data !== null && !Array.isArray(data)
			? (data as JsonObject)
			: null;
	} catch {
		return null;
	}
}
