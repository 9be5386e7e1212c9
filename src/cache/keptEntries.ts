import type { CacheEntry, EntryHome, KeptCounts } from "./cacheEntry.ts";
import type { CacheKey } from "./cacheKey.ts";
import { ENTRY_BYTES, HeapEntries } from "./heapEntries.ts";
import { PackedEntries } from "./packedEntries.ts";

/**
 * What caches of a process keep, within a bound of bytes. All share the bound. The entry
 * that was not read for the longest time leaves first, from any cache: so what people
 * ask for decides how much of the memory each cache has.
 *
 * Objects and heads are packed when they come. V8 marks what is in its heap again and
 * again, on the core that answers requests; what is packed costs no time while nobody
 * asks for it, and half of the memory. What is used most is in the heap as well, so
 * that it is not made again of its bytes at each read. All else is in the heap only,
 * in the map of its home.
 */
export class KeptEntries {
	/** Null: nothing is packed. */
	readonly packed: PackedEntries | null;
	readonly #heap = new HeapEntries();
	#maxWeight: number;
	readonly #bound: number;
	/** Slots of keys whose next value is kept without room too, each until another takes its place: about as many as there are entries. */
	readonly #wanted: Uint32Array;

	/** With 0 nothing is kept. `packedBytes` of these are for packed entries. */
	constructor(maxWeight: number, packedBytes = 0) {
		this.#bound = maxWeight - packedBytes;
		this.#maxWeight = this.#bound;
		this.packed =
			packedBytes > 0 ? new PackedEntries(packedBytes, this.#heap) : null;
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
	admits({ versions }: EntryHome, slot: number): boolean {
		const staysInHeap = this.packed === null || versions === null;
		const hasRoom =
			this.packed?.isFull === false ||
			(staysInHeap && this.#heap.weight < this.#maxWeight * FULL);
		if (hasRoom) return true;
		const at = slot % this.#wanted.length;
		if (this.#wanted[at] === slot) return true;
		this.#wanted[at] = slot;
		return false;
	}

	/** Nothing of that key is kept. A value heavier than the bound is not added. */
	add(home: EntryHome, key: string, value: CacheEntry): void {
		if (value.weight + ENTRY_BYTES > this.#maxWeight) return;
		home.counts.changes++;
		this.#heap.add(home, key, value);
		this.#evict();
	}

	/** The same, outside of the heap. False for a value that is only kept in the heap: a key that is no id, and a value that is not known to be current, is not packed. */
	pack(home: EntryHome, key: CacheKey, value: CacheEntry): boolean {
		const { proof, slot, channel } = value;
		const { versions, counts } = home;
		if (this.packed === null || versions === null || proof === null) {
			return false;
		}
		const current = versions.packedSumOf(slot, channel);
		if (!this.packed.put(home, key, value, current)) return false;
		counts.changes++;
		return true;
	}

	/** Made of what is packed at that place, under the same key. */
	addUnpacked(
		home: EntryHome,
		key: string,
		value: CacheEntry,
		place: number,
	): void {
		if (value.weight + ENTRY_BYTES > this.#maxWeight) return;
		value.place = place;
		this.#heap.add(home, key, value);
		this.packed?.noteUnpacked(place, value.at);
		this.#evict();
	}

	/** Because it changed, or is too old: what comes in its place is kept at once. */
	drop(entry: CacheEntry): void {
		this.#wanted[entry.slot % this.#wanted.length] = entry.slot;
		const { home, place } = entry;
		if (home === null) return;
		this.#heap.remove(entry);
		home.counts.changes++;
		if (place > 0) this.packed?.remove(place);
	}

	/** The same of what is packed at that place, and not in the heap. */
	dropPacked(home: EntryHome, place: number, slot: number): void {
		this.#wanted[slot % this.#wanted.length] = slot;
		this.packed?.remove(place);
		home.counts.changes++;
	}

	/** Those in the heap of the cache that counts there. */
	dropWhere(counts: KeptCounts, matches: (entry: CacheEntry) => boolean): void {
		const isOwn = (entry: CacheEntry) =>
			entry.home?.counts === counts && matches(entry);
		for (const entry of this.#heap.where(isOwn)) this.drop(entry);
	}

	/** Drops all that is packed, of all caches. */
	dropAllPacked(): void {
		const isPacked = ({ place }: CacheEntry) => place > 0;
		for (const entry of this.#heap.where(isPacked)) this.#heap.remove(entry);
		this.packed?.clear();
	}

	#evict(): void {
		while (this.#heap.weight > this.#maxWeight) {
			const entry = this.#heap.next();
			const { home, place } = entry;
			this.#heap.remove(entry);
			if (home === null) continue;
			if (place > 0) this.#leave(home, entry, place);
			else {
				home.counts.evictions++;
				home.counts.changes++;
			}
		}
	}

	/**
	 * What is in the heap is good whatever the versions were when it was read, as
	 * invalidations drop it: so the packed entry is good for as long as the versions
	 * of now.
	 */
	#leave({ versions }: EntryHome, entry: CacheEntry, place: number): void {
		if (versions === null) return;
		const { slot, channel } = entry;
		this.packed?.noteLeft(place, versions.packedSumOf(slot, channel));
	}
}

/** The share of the bound that packed entries have. The rest has room for what requests use most. */
const PACKED = 7 / 8;
/** What an object or a head takes with its entry, in bytes, approximately. */
const USUAL_WEIGHT = 1_024;
/** An eviction leaves room for less than one entry. */
const FULL = 0.9;
