import { type Id, unpackId } from "../../id/ids.ts";
import type { SharedCaches } from "./store.ts";

/**
 * The key in a shared cache of something on the shard of `id`. The generation of
 * the shard is part of it, so that a shard that moved or was promoted starts
 * with an empty cache. Without spaces, which memcached does not allow.
 */
export function sharedKey(
	{ generationOf }: SharedCaches,
	id: Id,
	name: string,
): string {
	const generation = generationOf(unpackId(id).shard);
	// Of an object the name is the id.
	return `${generation}.${name === id ? id : name.replace(" ", ".")}`;
}
