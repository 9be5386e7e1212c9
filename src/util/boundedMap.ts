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
	#newest: Entry<V> | null = null;
	#oldest: Entry<V> | null = null;
	#weight = 0;

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

	get(key: string): V | undefined {
		const entry = this.#entries.get(key);
		if (entry === undefined) return undefined;
		if (this.#now() >= entry.end) {
			this.#drop(entry);
			return undefined;
		}
		if (entry !== this.#newest) {
			this.#unlink(entry);
			this.#linkAsNewest(entry);
		}
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
		this.#linkAsNewest(entry);
		this.#weight += weight;
		while (this.#weight > this.#maxWeight && this.#oldest !== null) {
			this.#drop(this.#oldest);
		}
	}

	delete(key: string): boolean {
		const entry = this.#entries.get(key);
		if (entry !== undefined) this.#drop(entry);
		return entry !== undefined;
	}

	clear(): void {
		this.#entries.clear();
		this.#newest = null;
		this.#oldest = null;
		this.#weight = 0;
	}

	#drop(entry: Entry<V>): void {
		this.#entries.delete(entry.key);
		this.#unlink(entry);
		this.#weight -= entry.weight;
	}

	#linkAsNewest(entry: Entry<V>): void {
		entry.older = this.#newest;
		if (this.#newest === null) this.#oldest = entry;
		else this.#newest.newer = entry;
		this.#newest = entry;
	}

	#unlink(entry: Entry<V>): void {
		const { older, newer } = entry;
		if (older === null) this.#oldest = newer;
		else older.newer = newer;
		if (newer === null) this.#newest = older;
		else newer.older = older;
		entry.older = null;
		entry.newer = null;
	}
}

interface Entry<V> {
	readonly key: string;
	readonly value: V;
	readonly weight: number;
	/** On the map's clock, milliseconds. */
	readonly end: number;
	/** The entry that was used before this one. */
	older: Entry<V> | null;
	/** The entry that was used after this one. */
	newer: Entry<V> | null;
}
