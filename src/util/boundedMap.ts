/**
 * A map with a bound on the weight of its values. When it is full, the entry
 * that was not read for the longest is evicted; with `order: "age"` the oldest
 * one. Entries may also expire.
 */
export class BoundedMap<V> {
	readonly #entries = new Map<string, Entry<V>>();
	readonly #maxWeight: number;
	readonly #weigh: (value: V) => number;
	readonly #now: () => number;
	readonly #refreshes: boolean;
	#weight = 0;

	constructor(options: {
		/** In the unit of `weigh`. */
		readonly maxWeight: number;
		readonly weigh: (value: V) => number;
		/** Milliseconds. */
		readonly now?: () => number;
		/** By "age" a read moves nothing, which is cheaper. */
		readonly order?: "use" | "age";
	}) {
		this.#maxWeight = options.maxWeight;
		this.#weigh = options.weigh;
		this.#now = options.now ?? (() => performance.now());
		this.#refreshes = options.order !== "age";
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
		if (this.#refreshes) {
			this.#entries.delete(key);
			this.#entries.set(key, entry);
		}
		return entry.value;
	}

	/** A value heavier than the whole map is not kept. `ttlMs` counts from now. */
	set(key: string, value: V, ttlMs = Number.POSITIVE_INFINITY): void {
		this.delete(key);
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

	clear(): void {
		this.#entries.clear();
		this.#weight = 0;
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
