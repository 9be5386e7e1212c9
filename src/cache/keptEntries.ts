import { RecencyList } from "../util/recencyList.ts";
import type { CacheEntry, EntryHome } from "./cacheEntry.ts";
import { PackedEntries } from "./packedEntries.ts";

/**
 * What caches of a process keep, within a bound of bytes, each in its own maps. All
 * share the bound. The entry that was not read for the longest time leaves first, from
 * any cache: so what people ask for decides how much of the memory each cache has.
 *
 * Objects and heads do not leave at once. In the maps is what was used last. An
 * entry that has no room there is packed, and comes back when it is asked for. V8
 * marks what is in its heap again and again, on the core that answers requests; what
 * is packed costs no time while nobody asks for it, and half of the memory.
 */
export class KeptEntries {
	/** Null: what has no room leaves. */
	readonly packed: PackedEntries | null;
	/** Bytes of all entries in the maps, approximately. */
	#weight = 0;
	#maxWeight: number;
	readonly #bound: number;
	readonly #recency = new RecencyList<CacheEntry>();
	/** Slots of keys whose next value is kept without room too, each until another takes its place: about as many as there are entries. */
	readonly #wanted: Uint32Array;

	/** With 0 nothing is kept. `packedBytes` of these are for packed entries. */
	constructor(maxWeight: number, packedBytes = 0) {
		this.#bound = maxWeight - packedBytes;
		this.#maxWeight = this.#bound;
		this.packed = packedBytes > 0 ? new PackedEntries(packedBytes) : null;
		this.#wanted = new Uint32Array(Math.ceil(maxWeight / USUAL_WEIGHT));
	}

	/** As a process keeps them. */
	static within(bytes: number): KeptEntries {
		return new KeptEntries(bytes, Math.floor(bytes * PACKED));
	}

	/** Uses only a part of the bound from now on. */
	limitTo(share: number): void {
		this.#maxWeight = this.#bound * share;
		this.#evict();
	}

	get isNothing(): boolean {
		return this.#bound === 0;
	}

	/**
	 * Whether to keep a value that was missed. If there is no room that is at its
	 * second miss: most keys come once, and each would end an entry that is used.
	 */
	admits(slot: number): boolean {
		const hasRoom =
			this.#weight < this.#maxWeight * FULL || this.packed?.isFull === false;
		if (hasRoom) return true;
		const at = slot % this.#wanted.length;
		if (this.#wanted[at] === slot) return true;
		this.#wanted[at] = slot;
		return false;
	}

	/** The value is in no map, and the map has no value of this key. One heavier than the bound is not added. */
	add(home: EntryHome, key: string, value: CacheEntry): void {
		if (value.weight + ENTRY_BYTES > this.#maxWeight) return;
		home.counts.changes++;
		this.#addToMap(home, key, value);
	}

	/** Made of what is packed at that place, under the same key. */
	addUnpacked(
		home: EntryHome,
		key: string,
		value: CacheEntry,
		place: number,
	): void {
		if (value.weight + ENTRY_BYTES > this.#maxWeight) return;
		this.packed?.noteUnpacked(place);
		this.#addToMap(home, key, value);
	}

	#addToMap(home: EntryHome, key: string, value: CacheEntry): void {
		value.weight += ENTRY_BYTES;
		value.key = key;
		value.wasRead = false;
		value.home = home;
		home.entries.set(key, value);
		home.counts.weight += value.weight;
		this.#recency.add(value);
		this.#weight += value.weight;
		this.#evict();
	}

	/** Because it changed, or is too old: what comes in its place is kept at once. */
	drop(entry: CacheEntry): void {
		this.#wanted[entry.slot % this.#wanted.length] = entry.slot;
		const { home, key } = entry;
		if (home === null) return;
		this.#remove(entry);
		home.counts.changes++;
		if (home.number === 0) return;
		this.dropPacked(home, key, entry.slot);
	}

	/** The same of an entry that may be packed. */
	dropPacked(home: EntryHome, key: string, slot: number): void {
		if (this.packed === null || home.number === 0) return;
		const place = this.packed.find(home, key);
		if (place === 0) return;
		this.#wanted[slot % this.#wanted.length] = slot;
		this.packed.remove(place);
		home.counts.changes++;
	}

	#remove(entry: CacheEntry): void {
		const { home, weight } = entry;
		if (home === null) return;
		home.entries.delete(entry.key);
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
				this.#pack(entry);
				this.#remove(entry);
				// One answer may take the room of many objects.
				passes = MAX_PASSES;
			}
		}
	}

	/**
	 * What is in its map is good whatever the versions were when it was read, as
	 * invalidations drop it: so the packed entry is good for as long as the versions
	 * of now. A value that was not known to be current is not packed.
	 */
	#pack(entry: CacheEntry): void {
		const { home, slot, channel, proof } = entry;
		if (home === null) return;
		const { versions, counts } = home;
		const isPacked =
			this.packed !== null &&
			versions !== null &&
			proof !== null &&
			this.packed.put(home, entry, versions.packedSumOf(slot, channel));
		if (isPacked) return;
		counts.evictions++;
		counts.changes++;
	}
}

/** The share of the bound that packed entries have. The rest has room for what requests use at the moment. */
const PACKED = 7 / 8;
/** Fields, key and place in the map of an entry, in bytes, approximately. */
export const ENTRY_BYTES = 180;
/** What an object or a head takes with its entry, in bytes, approximately. */
const USUAL_WEIGHT = 1_024;
/** An eviction leaves room for less than one entry. */
const FULL = 0.9;
/** Entries that are passed over for one that leaves; so it takes microseconds even if all were read. */
const MAX_PASSES = 64;
