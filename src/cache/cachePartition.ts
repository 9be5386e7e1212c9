import { fnv1a } from "../util/fnv1a.ts";
import type { SharedCall } from "../util/sharedCall.ts";
import type { CacheEntry } from "./cacheEntry.ts";

/** Keys of one kind in a local cache, so that none is put together of several parts at each read. */
export interface CachePartition<V extends CacheEntry> {
	readonly entries: Map<string, V>;
	readonly running: Map<string, Running<V>>;
	/** Of its name; a key's hash continues it. */
	readonly hash: number;
}

export interface CacheKey<V extends CacheEntry> {
	readonly partition: CachePartition<V>;
	readonly key: string;
}

/** A read that runs, of one key. */
export interface Running<V> {
	readonly batch: SharedCall<readonly (V | Error)[]>;
	readonly at: number;
	readonly depth: number;
	readonly slot: number;
	readonly channel: number;
	readonly version: number;
}

export function newPartition<V extends CacheEntry>(
	name: string,
): CachePartition<V> {
	return {
		entries: new Map(),
		running: new Map(),
		hash: fnv1a(`${name} `),
	};
}
