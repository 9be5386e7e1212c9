import { derivedLists } from "../../../graph/store/derivedLists.ts";
import { readDecisive } from "../../../graph/store/readUncached.ts";
import type { Store } from "../../../graph/store/store.ts";
import { WritePipeline } from "../../../graph/write/pipeline.ts";
import { type Id, unpackId } from "../../../id/ids.ts";
import type { ObjectType } from "../../../model/types.ts";
import { isStoredNumber } from "../../../storage/order.ts";
import type { JsonObject } from "../../../util/json.ts";
import { isIdOfRow } from "../references.ts";
import { readContents, repairedBookkeeping } from "../storedContent.ts";

/**
 * Repairs first read again what they repair. They use the same steps as writes,
 * by version and by compare-and-set, so an interrupted repair, or one beside a
 * write, does no harm: the next `verify` finds the rest.
 */
export async function changeContent(
	store: Store,
	id: Id,
	change: (data: JsonObject) => JsonObject,
): Promise<JsonObject> {
	const { result } = await new WritePipeline(store).transact<JsonObject>({
		shard: unpackId(id).shard,
		objects: [id],
		decide({ objects: [data] }) {
			if (data === null || data === undefined) throw unreadable(id);
			const next = change(data);
			return { result: next, objects: [{ id, data: next }] };
		},
	});
	return result;
}

export function unreadable(id: Id): Error {
	return new Error(`${id} does not exist or is not JSON.`);
}

/** Keeps valid tokens, drops what is no token, and gives a version above those of the object's list edges. */
export async function repairBookkeeping(
	store: Store,
	type: ObjectType,
	id: Id,
): Promise<void> {
	const data = (await readContents(store.storage, [id])).get(id);
	if (typeof data !== "object") throw unreadable(id);
	const keys = derivedLists(store, type, data).flatMap((list) =>
		isIdOfRow(list.from) ? [{ ...list, to: id }] : [],
	);
	const edges = await readDecisive(store.storage, "edges", keys);
	const versions = edges
		.map((edge) => edge?.version)
		.filter((version) => isStoredNumber(version));
	const leastVersion = Math.max(0, ...versions) + 1;
	await changeContent(store, id, (now) =>
		repairedBookkeeping(now, leastVersion),
	);
}
