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

export interface LocalCacheOptions<V> {
	/** Bytes. With 0 nothing is cached, and running reads are still joined. */
	readonly maxWeight: number;
	/** Whether a value may be cached: false for one whose change invalidates nothing. It is not shared with readers that joined its read either. */
	readonly isKept?: (value: V) => boolean;
	/** Whether what is cached has all that `value` has, and more: then it is kept. */
	readonly isBetter?: (cached: V, value: V) => boolean;
	/** How long a value is good if nothing invalidates it. Milliseconds. */
	readonly maxAgeMs?: number;
	/** A table of versions that several caches share, and which of them this one is. */
	readonly versions?: Uint32Array;
	readonly number?: number;
	/** On which channel the invalidations of a key arrive. */
	readonly channelOf?: (key: string) => number;
	/** Milliseconds. */
	readonly now?: () => number;
	/** Whether this process stood still and has not yet received what others invalidated meanwhile. Asked at each read, because requests may come before timers. */
	readonly isOverdue?: () => boolean;
	/** Settles when that has ended. Absent: reads do not wait for it. */
	readonly untilProven?: () => Promise<void>;
}
