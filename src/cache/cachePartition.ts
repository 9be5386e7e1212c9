import type { CallOptions, Trace } from "../trace.ts";
import { fnv1a } from "../util/fnv1a.ts";
import { SharedCall } from "../util/sharedCall.ts";
import type { CacheEntry, EntryHome, KeptCounts } from "./cacheEntry.ts";
import type { KeptEntries } from "./keptEntries.ts";
import type { Unpack } from "./packedEntries.ts";
import type { SlotVersions } from "./slotVersions.ts";

/** Keys of one kind in a local cache, so that none is put together of several parts at each read. */
export interface CachePartition<V extends CacheEntry> extends EntryHome {
	readonly entries: Map<string, V>;
}

/** Keys that are read together. */
export interface Keys<V extends CacheEntry> {
	readonly names: readonly string[];
	/** By the index of the name. */
	readonly partitionOf: (index: number) => CachePartition<V>;
}

/** A read that runs, of the missing ones among some keys. */
export class SharedRead<V extends CacheEntry> implements CallOptions {
	readonly call = new SharedCall<readonly (V | Error)[]>();
	readonly wanted: Wanted<V, Error>;
	/** How often the cache had detached all reads when this one began. */
	readonly detached: number;

	constructor(wanted: Wanted<V, Error>, detached: number) {
		this.wanted = wanted;
		this.detached = detached;
	}

	/** Most reads end in the shared caches, which do without a signal. */
	get signal(): AbortSignal {
		return this.call.signal;
	}

	get trace(): Trace | undefined {
		return this.wanted.call?.trace;
	}

	/** Where in its results the value of a key is; -1 for one that it does not read. */
	at(partition: CachePartition<V>, key: string): number {
		const { keys, missing } = this.wanted;
		return missing.findIndex(
			(index) =>
				keys.names[index] === key && keys.partitionOf(index) === partition,
		);
	}
}

/** A key that is being read for others: where it is in what they read. */
export interface Joined<V extends CacheEntry> {
	readonly index: number;
	readonly batch: SharedRead<V>;
	readonly at: number;
}

/** What one reader asks for. */
export interface Wanted<V extends CacheEntry, E> {
	readonly keys: Keys<V>;
	/** Indexes of those that are not there, and the slots of these. */
	readonly missing: readonly number[];
	readonly slots: readonly number[];
	readonly load: Load<V | E>;
	readonly depth: number;
	readonly call: CallOptions | undefined;
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
	counts: KeptCounts,
	versions: SlotVersions | null,
): CachePartition<V> {
	return {
		entries: new Map(),
		counts,
		hash: fnv1a(`${name} `),
		versions,
		number: 0,
	};
}

export interface LocalCacheOptions<V> {
	/** The memory, which other caches may share. If it has room for nothing, running reads are still joined. */
	readonly kept: KeptEntries;
	/** Whether a value may be cached: false for one whose change invalidates nothing. It is not shared with readers that joined its read either. */
	readonly isKept?: (value: V) => boolean;
	/** Whether what is cached has all that `value` has, and more: then it is kept. */
	readonly isBetter?: (cached: V, value: V) => boolean;
	/** Makes of what `CacheEntry.pack` wrote the same value. Absent: no value is packed. */
	readonly unpack?: Unpack<V>;
	/** How long a value is good if nothing invalidates it. Milliseconds. */
	readonly maxAgeMs?: number;
	/** A table of versions that several caches share, and which of them this one is. */
	readonly versions?: Uint32Array;
	readonly number?: number;
	/** On which channel the invalidations of a key arrive. `upper` are the upper 32 bits of a key that is an id, else 0. */
	readonly channelOf?: (key: string, upper: number) => number;
	/** Milliseconds. */
	readonly now?: () => number;
	/** Whether this process was paused and has not yet received what others invalidated meanwhile. Asked at each read, because requests may come before timers. */
	readonly isOverdue?: () => boolean;
	/** Settles when that has ended. Absent: reads do not wait for it. */
	readonly untilProven?: () => Promise<void>;
}
