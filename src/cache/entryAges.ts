/** The bound on staleness where nothing else keeps it: no cached value is older than this. */
export const MAX_AGE_MS = 10_000;
/** Where invalidations keep the bound: an entry that is not evicted lives this long at most, and half as long at least. */
export const INVALIDATED_MAX_AGE_MS = 1_800_000;
/** Different ages of entries. */
const AGES = 1_024;

/** How long the entries of a local cache live. Milliseconds. */
export class EntryAges {
	readonly #longest: number;
	#current: number;

	constructor(longest: number = MAX_AGE_MS) {
		this.#longest = longest;
		this.#current = longest;
	}

	/** While on, ten seconds at most. */
	limit(on: boolean): void {
		this.#current = on ? Math.min(MAX_AGE_MS, this.#longest) : this.#longest;
	}

	/** The longest age where invalidations keep values good; null where age does. */
	get invalidatedMs(): number | null {
		return this.#current > MAX_AGE_MS ? this.#current : null;
	}

	/**
	 * How long a value in that slot lives. Where invalidations keep it good, that is
	 * between half of the longest age and all of it: values that were read together,
	 * after a start for example, are not all read again together.
	 */
	at(slot: number): number {
		const longest = this.#current;
		return longest > MAX_AGE_MS
			? longest * (1 - (slot % AGES) / (2 * AGES))
			: longest;
	}
}
