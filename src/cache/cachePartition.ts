import type { CallOptions } from "../trace.ts";
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
	readonly batch: Batch<V>;
	readonly at: number;
	readonly depth: number;
	readonly slot: number;
	readonly channel: number;
	readonly version: number;
}

export type Batch<V> = SharedCall<readonly (V | Error)[]>;

/** A key that is being read. */
export interface Started<V extends CacheEntry> {
	readonly partition: CachePartition<V>;
	readonly key: string;
	readonly running: Running<V>;
}

export interface ReadOptions<V> {
	/** Whether a cached value suffices; if not, the key is read again. */
	readonly suffices?: (value: V, index: number) => boolean;
	/** How much of a value is read. A running read is joined if it reads as much. */
	readonly depth?: number;
	readonly call?: CallOptions | undefined;
}

/** Reads the values of the missing keys, with these options. */
export type Load<T> = (
	missing: readonly number[],
	call: CallOptions | undefined,
) => Promise<readonly T[]>;

export function newPartition<V extends CacheEntry>(
	name: string,
): CachePartition<V> {
	return {
		entries: new Map(),
		running: new Map(),
		hash: fnv1a(`${name} `),
	};
}
