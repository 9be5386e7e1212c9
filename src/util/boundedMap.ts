import { type Listed, RecencyList } from "./recencyList.ts";

/**
 * A map with a bound on the weight of its values. When it is full, the entry
 * that was not read for the longest is evicted. Entries may also expire.
 *
 * The order of use is a linked list beside the map. The map's own order would do
 * (delete and set again at each read, evict the first key), but V8 keeps
 * deleted keys as holes until it rehashes, and finding the first key of a full
 * map walks over all of them: 13 to 21 µs an insert with 10,000 entries and more.
 */
export class BoundedMap<V> {
	readonly #entries = new Map<string, Entry<V>>();
	readonly #maxWeight: number;
	readonly #weigh: (value: V, key: string) => number;
	readonly #now: () => number;
	readonly #recency = new RecencyList<Entry<V>>();
	#weight = 0;
	#evictions = 0;

	constructor(options: {
		/** In the unit of `weigh`. */
		readonly maxWeight: number;
		readonly weigh: (value: V, key: string) => number;
		/** Milliseconds. */
		readonly now?: () => number;
	}) {
		this.#maxWeight = options.maxWeight;
		this.#weigh = options.weigh;
		this.#now = options.now ?? (() => performance.now());
	}

	get size(): number {
		return this.#entries.size;
	}

	/** The weight of all entries, in the unit of `weigh`. */
	get weight(): number {
		return this.#weight;
	}

	/** Entries that left for want of room, since it was made. */
	get evictions(): number {
		return this.#evictions;
	}

	get(key: string): V | undefined {
		const entry = this.#entries.get(key);
		if (entry === undefined) return undefined;
		if (this.#now() >= entry.end) {
			this.#drop(entry);
			return undefined;
		}
		this.#recency.renew(entry);
		return entry.value;
	}

	/** A value heavier than the whole map is not kept. `ttlMs` counts from now. */
	set(key: string, value: V, ttlMs = Number.POSITIVE_INFINITY): void {
		this.delete(key);
		const weight = this.#weigh(value, key);
		if (weight > this.#maxWeight) return;
		const entry: Entry<V> = {
			key,
			value,
			weight,
			end: this.#now() + ttlMs,
			older: null,
			newer: null,
		};
		this.#entries.set(key, entry);
		this.#recency.add(entry);
		this.#weight += weight;
		while (this.#weight > this.#maxWeight && this.#recency.oldest !== null) {
			this.#drop(this.#recency.oldest);
			this.#evictions++;
		}
	}

	delete(key: string): boolean {
		const entry = this.#entries.get(key);
		if (entry !== undefined) this.#drop(entry);
		return entry !== undefined;
	}

	clear(): void {
		this.#entries.clear();
		this.#recency.clear();
		this.#weight = 0;
	}

	#drop(entry: Entry<V>): void {
		this.#entries.delete(entry.key);
		this.#recency.remove(entry);
		this.#weight -= entry.weight;
	}
}

interface Entry<V> extends Listed<Entry<V>> {
	readonly key: string;
	readonly value: V;
	readonly weight: number;
	/** On the map's clock, milliseconds. */
	readonly end: number;
}
