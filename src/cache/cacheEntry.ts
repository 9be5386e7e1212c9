import type { SlotVersions } from "./slotVersions.ts";

/** What one cache holds of the memory that several share. */
export interface KeptCounts {
	/** Bytes of its entries in the heap, approximately. */
	weight: number;
	/** Entries that are packed, those that are in the heap as well included. */
	packed: number;
	/** Bytes of all that are packed. */
	packedBytes: number;
	/** Rises with each entry that is added or dropped. */
	changes: number;
	/** Entries that left for want of room. */
	evictions: number;
}

/** Where an entry is kept. */
export interface EntryHome {
	/** Those that are not packed. */
	readonly entries: Map<string, CacheEntry>;
	/** Those of its cache. */
	readonly counts: KeptCounts;
	/** The hash of its name; a key's hash continues it. */
	readonly hash: number;
	/** Those of its entries; null if none is packed. */
	readonly versions: SlotVersions | null;
	/** Among the homes of packed entries; 0 before the first one. */
	number: number;
}

export function newCounts(): KeptCounts {
	return { weight: 0, packed: 0, packedBytes: 0, changes: 0, evictions: 0 };
}

/**
 * A value of a local cache. It is its own entry, because most of the memory of a
 * cache of small values would be entries. The fields are the cache's; a value is
 * in one cache at most, under one key.
 */
export class CacheEntry {
	/** Null while no cache has it in the heap. */
	home: EntryHome | null = null;
	key = "";
	/** In the table of versions. */
	slot = 0;
	/** On which its invalidations arrive. */
	channel = 0;
	/** When it is too old, on the cache's clock. */
	end = 0;
	/** The sum of the versions of its slot and channel when it was read: it is current while that is the same. Null for a value that is not known to have been current. */
	proof: number | null = null;
	/** Bytes, approximately; while a cache has it in the heap, those of the entry included. */
	weight: number;
	/** Whether it was read since it was added, or since eviction passed over it. */
	wasRead = false;
	/** The number of the set of reads that noted it last (freshness/readSet.ts). */
	listedIn = 0;
	/** Its place among those in the heap. */
	at = 0;
	/** Its place among packed entries; 0 for one that is not packed. */
	place = 0;

	constructor(weight: number) {
		this.weight = weight;
	}

	/** Writes what the same value can be made of. Returns the number of bytes; -1 for a value that stays in the heap, or has no room there. */
	pack(_into: Buffer): number {
		return -1;
	}
}
