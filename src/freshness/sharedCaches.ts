import type { SharedCache } from "../cache/sharedCache.ts";
import { type Id, shardOf } from "../id/ids.ts";

/** The caches that processes share. */
export interface SharedCaches {
	readonly objects: SharedCache | null;
	readonly heads: SharedCache | null;
	/** Makes other processes drop these keys from the caches in them. Whether Redis took them; true if there are no others. Never rejects. */
	readonly publish: (keys: readonly string[]) => Promise<boolean>;
	/**
	 * Publishes the same before it returns, so behind the deletes of heads that were
	 * sent in the same step. Null if those may go to another Redis: a publication
	 * could overtake them.
	 */
	readonly publishBehindDeletes: () => SharedCaches["publish"] | null;
	/** Whether all that was published of these keys was taken, after waiting for that at most so long. */
	readonly untilPublished: (
		keys: readonly string[],
		ms: number,
	) => Promise<boolean>;
	/** Rises when a shard moves or its primary changes; values cached before that are not read any more. */
	readonly generationOf: (
		shard: number,
		/** By its name, for its lists: feed lists may be on another host than their shard. */
		mapping?: string,
	) => number | string;
}

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
	/** The name of the mapping. */
	name: string,
	from: Id,
): string {
	const generation = shared.generationOf(shardOf(from), name);
	return `${generation}.${name}.${from}`;
}

function generationAt({ generationOf }: SharedCaches, id: Id): number | string {
	return generationOf(shardOf(id));
}
