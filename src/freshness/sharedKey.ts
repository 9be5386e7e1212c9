import { type Id, unpackId } from "../id/ids.ts";
import type { SharedCaches } from "./sharedCaches.ts";

/**
 * The key in a shared cache of an object, or of the head of a list. The
 * generation of the shard is part of it, so that a shard that moved or was
 * promoted starts with an empty cache. Without spaces, which memcached does not
 * allow.
 */
export function sharedObjectKey(shared: SharedCaches, id: Id): string {
	return `${generationAt(shared, id)}.${id}`;
}

export function sharedListKey(
	shared: SharedCaches,
	/** Of the mapping. */
	name: string,
	from: Id,
): string {
	const generation = shared.generationOf(unpackId(from).shard, name);
	return `${generation}.${name}.${from}`;
}

function generationAt({ generationOf }: SharedCaches, id: Id): number | string {
	return generationOf(unpackId(id).shard);
}
