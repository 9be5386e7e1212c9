import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { KeyResult } from "../../storage/rows.ts";
import type {
	ReadKey,
	ReadKind,
	ReadResult,
	Storage,
} from "../../storage/storage.ts";
import { parseStoredObject } from "../../storage/storedObject.ts";
import { type CallOptions, DECISIVE } from "../../trace.ts";
import type { JsonObject } from "../../util/json.ts";
import type { Store } from "./store.ts";

/**
 * The stored content of objects, read past all caches because a write depends
 * on it: by id, null for an object that does not exist, an error for one whose
 * host did not answer.
 */
export async function readUncachedResults(
	{ storage }: Store,
	ids: readonly Id[],
	call?: CallOptions,
): Promise<ReadonlyMap<Id, KeyResult<JsonObject | null>>> {
	const unique = [...new Set(ids)];
	const texts =
		unique.length > 0 ? await storage.read("objects", unique, call) : [];
	return new Map(
		unique.map((id, at) => {
			const text = texts[at] ?? null;
			return [
				id,
				typeof text === "string" ? parseStoredObject(id, text) : text,
			];
		}),
	);
}

/** The same, if any error is an error of the whole write. */
export async function readUncachedObjects(
	store: Store,
	ids: readonly Id[],
	call?: CallOptions,
): Promise<ReadonlyMap<Id, JsonObject | null>> {
	const results = await readUncachedResults(store, ids, call);
	const contents = new Map<Id, JsonObject | null>();
	for (const [id, result] of results) {
		if (result instanceof CorkboardError) throw result;
		contents.set(id, result);
	}
	return contents;
}

/** What their primaries say now. Throws what a shard failed with. */
export async function readDecisive<K extends ReadKind>(
	storage: Pick<Storage, "read">,
	kind: K,
	keys: readonly ReadKey<K>[],
): Promise<readonly ReadResult<K>[]> {
	return keys.length === 0
		? []
		: valuesOrThrow(await storage.read(kind, keys, DECISIVE));
}

/** The results if none is an error; otherwise throws the first error. For work that is useless in part. */
export function valuesOrThrow<T>(
	results: readonly KeyResult<T>[],
): readonly T[] {
	return results.map((result) => {
		if (result instanceof CorkboardError) throw result;
		return result;
	});
}
