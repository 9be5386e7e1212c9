import type { CacheEntry, EntryHome } from "./cacheEntry.ts";

/**
 * The entries that caches have in V8's heap. A hand goes through them again and again,
 * and takes out those that were not read since it came by (the CLOCK algorithm). New
 * ones take the places that it left, behind it: so mostly the one that came first is
 * taken out first. A place that was left otherwise may be anywhere.
 *
 * An entry has the same place for as long as it is here, by which a packed entry
 * knows it: so nobody looks for it by its key. One that is not packed is in the map
 * of its home.
 */
export class HeapEntries {
	/** Bytes of all, approximately. */
	weight = 0;
	/** An entry, or the place that was left next. */
	readonly #entries: (CacheEntry | number)[] = [];
	/** The places that were left first and last. They are taken in that order. */
	#firstLeft = NONE;
	#lastLeft = NONE;
	#hand = 0;

	add(home: EntryHome, key: string, entry: CacheEntry): void {
		entry.weight += ENTRY_BYTES;
		entry.key = key;
		entry.wasRead = false;
		entry.home = home;
		entry.at = this.#placeForOne();
		this.#entries[entry.at] = entry;
		if (entry.place === 0) home.entries.set(key, entry);
		home.counts.weight += entry.weight;
		this.weight += entry.weight;
	}

	#placeForOne(): number {
		const at = this.#firstLeft;
		if (at === NONE) return this.#entries.length;
		this.#firstLeft = this.#entries[at] as number;
		return at;
	}

	at(place: number): CacheEntry {
		return this.#entries[place] as CacheEntry;
	}

	remove(entry: CacheEntry): void {
		const { at, home, weight } = entry;
		if (home === null) return;
		this.#entries[at] = NONE;
		if (this.#firstLeft === NONE) this.#firstLeft = at;
		else this.#entries[this.#lastLeft] = at;
		this.#lastLeft = at;
		if (entry.place === 0) home.entries.delete(entry.key);
		home.counts.weight -= weight;
		this.weight -= weight;
		entry.home = null;
		entry.place = 0;
		entry.weight -= ENTRY_BYTES;
	}

	/** The one that has to leave before all others. The hand is behind it. There has to be one. */
	next(): CacheEntry {
		let passes = MAX_PASSES;
		for (;;) {
			if (this.#hand >= this.#entries.length) this.#hand = 0;
			const entry = this.#entries[this.#hand++];
			if (typeof entry !== "object") continue;
			if (!entry.wasRead || passes-- === 0) return entry;
			entry.wasRead = false;
		}
	}

	/** Those that match. They may be removed meanwhile. */
	*where(matches: (entry: CacheEntry) => boolean): Iterable<CacheEntry> {
		for (const entry of this.#entries) {
			if (typeof entry === "object" && matches(entry)) yield entry;
		}
	}
}

const NONE = -1;
/** Fields and key of an entry, and what leads to it, in bytes, approximately. */
export const ENTRY_BYTES = 180;
/** Entries that are passed over for one that leaves; so it takes microseconds even if all were read. */
const MAX_PASSES = 64;
