import { RecencyList } from "../util/recencyList.ts";
import type { CacheEntry, EntryHome } from "./cacheEntry.ts";

/**
 * What a process keeps, within a bound of bytes: objects, heads, lookups and whole
 * answers, each in the map of its own cache. The bound is that of all together, and
 * what was not read leaves first, of whichever cache it is: what people ask for
 * decides how much of the memory each cache has.
 */
export class KeptEntries {
	/** Bytes of all entries, approximately. */
	#weight = 0;
	readonly #maxWeight: number;
	readonly #recency = new RecencyList<CacheEntry>();
	/** Slots of keys whose next value is kept without room too, each until another takes its place: about as many as there are entries. */
	readonly #wanted: Uint32Array;

	/** With 0 nothing is kept. */
	constructor(maxWeight: number) {
		this.#maxWeight = maxWeight;
		this.#wanted = new Uint32Array(Math.ceil(maxWeight / USUAL_WEIGHT));
	}

	get isNothing(): boolean {
		return this.#maxWeight === 0;
	}

	/**
	 * Whether to keep a value that was missed. Where there is no room that is at its
	 * second miss: most keys come once, and each would end an entry that is used.
	 */
	admits(slot: number): boolean {
		if (this.#weight < this.#maxWeight * FULL) return true;
		const at = slot % this.#wanted.length;
		if (this.#wanted[at] === slot) return true;
		this.#wanted[at] = slot;
		return false;
	}

	/** The value is in no map, and the map has no value of this key. One heavier than the bound is not added. */
	add(home: EntryHome, key: string, value: CacheEntry): void {
		if (value.weight + ENTRY_BYTES > this.#maxWeight) return;
		value.weight += ENTRY_BYTES;
		value.key = key;
		value.wasRead = false;
		value.home = home;
		home.entries.set(key, value);
		home.counts.changes++;
		home.counts.weight += value.weight;
		this.#recency.add(value);
		this.#weight += value.weight;
		this.#evict();
	}

	/** Because it changed, or is too old: what comes in its place is kept at once. */
	drop(entry: CacheEntry): void {
		this.#wanted[entry.slot % this.#wanted.length] = entry.slot;
		this.#remove(entry);
	}

	#remove(entry: CacheEntry): void {
		const { home, weight } = entry;
		if (home === null) return;
		home.entries.delete(entry.key);
		home.counts.changes++;
		home.counts.weight -= weight;
		entry.home = null;
		this.#recency.remove(entry);
		this.#weight -= weight;
		entry.weight -= ENTRY_BYTES;
	}

	/**
	 * Evicts the oldest entries that were not read since they were added, or since
	 * they were last the oldest (the CLOCK algorithm): a hit sets a flag, where the
	 * exact order of use would write into four objects.
	 */
	#evict(): void {
		let passes = MAX_PASSES;
		while (this.#weight > this.#maxWeight && this.#recency.oldest !== null) {
			const entry = this.#recency.oldest;
			if (entry.wasRead && passes > 0) {
				passes--;
				entry.wasRead = false;
				this.#recency.renew(entry);
			} else {
				if (entry.home !== null) entry.home.counts.evictions++;
				this.#remove(entry);
				// One answer may take the room of many objects.
				passes = MAX_PASSES;
			}
		}
	}
}

/** Fields, key and place in the map of an entry, in bytes, approximately. */
export const ENTRY_BYTES = 180;
/** What an object or a head takes with its entry, in bytes, approximately. */
const USUAL_WEIGHT = 1_024;
/** An eviction leaves room for less than one entry. */
const FULL = 0.9;
/** Entries that are passed over for one that leaves; so it takes microseconds also where all were read. */
const MAX_PASSES = 64;
