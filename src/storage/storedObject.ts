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
			`Shard ${shard} is full: expected a local id of at most ${MAX_LOCAL} in ${type.table} but got: ${local}.`,
		);
	}
	return packId({ shard, type: type.number, local });
}

export function parseStored(id: Id, text: string): JsonObject {
	try {
		return JSON.parse(text);
	} catch (thrown) {
		const { shard, type, local } = unpackId(id);
		throw new CorkboardError(
			"INTERNAL",
			`expected the stored data of ${id} (shard ${shard}, type ${type}, row ${local}) to be JSON but got: something else`,
			{ cause: thrown },
		);
	}
}
