import type { Id } from "../../id/ids.ts";
import type { JsonObject } from "../../util/json.ts";
import type { Store } from "./store.ts";
import { valuesOrThrow } from "./unwrap.ts";

/** What objects hold, by id, null where there is no such object. Past all caches: for what is about to be changed, or decides what is. */
export async function readUncachedObjects(
	{ storage }: Store,
	ids: readonly Id[],
): Promise<ReadonlyMap<Id, JsonObject | null>> {
	const unique = [...new Set(ids)];
	const texts =
		unique.length > 0 ? valuesOrThrow(await storage.readObjects(unique)) : [];
	return new Map(
		unique.map((id, at) => {
			const text = texts[at] ?? null;
			return [id, text === null ? null : (JSON.parse(text) as JsonObject)];
		}),
	);
}
