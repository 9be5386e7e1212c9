/**
 * A bounded map: the entry not asked for the longest goes first. Entries may
 * also have an end.
 */
export class Lru<V> {
	readonly #entries = new Map<string, Entry<V>>();
	readonly #maxWeight: number;
	readonly #weigh: (value: V) => number;
	readonly #now: () => number;
	#weight = 0;

	constructor(options: {
		/** In what `weigh` counts. */
		readonly maxWeight: number;
		readonly weigh: (value: V) => number;
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
			this.#drop(key, entry);
			return undefined;
		}
		this.#entries.delete(key);
		this.#entries.set(key, entry);
		return entry.value;
	}

	/** A value heavier than the whole map is not kept. `ttlMs` counts from now. */
	set(key: string, value: V, ttlMs = Number.POSITIVE_INFINITY): void {
		const old = this.#entries.get(key);
		if (old !== undefined) this.#drop(key, old);
		const weight = this.#weigh(value);
		if (weight > this.#maxWeight) return;
		this.#entries.set(key, { value, weight, end: this.#now() + ttlMs });
		this.#weight += weight;
		for (const [oldest, entry] of this.#entries) {
			if (this.#weight <= this.#maxWeight) break;
			this.#drop(oldest, entry);
		}
	}

	delete(key: string): boolean {
		const entry = this.#entries.get(key);
		if (entry !== undefined) this.#drop(key, entry);
		return entry !== undefined;
	}

	#drop(key: string, { weight }: Entry<V>): void {
		this.#entries.delete(key);
		this.#weight -= weight;
	}
}

interface Entry<V> {
	readonly value: V;
	readonly weight: number;
	readonly end: number;
}
