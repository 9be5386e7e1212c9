/** The bound on staleness if nothing else keeps it: no cached value is older than this. */
export const MAX_AGE_MS = 10_000;
/** If invalidations keep the bound: an entry that is not evicted lives this long at most, and half as long at least. */
export const INVALIDATED_MAX_AGE_MS = 1_800_000;
/** Different ages of entries. */
const AGES = 1_024;

/** How long the entries of a local cache live. Milliseconds. */
export class EntryAges {
	readonly #longest: number;
	#isLimited = false;
	#limited: ReadonlySet<number> = new Set();

	constructor(longest: number = MAX_AGE_MS) {
		this.#longest = longest;
	}

	/** While on, ten seconds at most. */
	limit(on: boolean): void {
		this.#isLimited = on;
	}

	/** The same of those on these channels. */
	limitOf(channels: ReadonlySet<number>, on: boolean): void {
		this.#limited = on
			? this.#limited.union(channels)
			: this.#limited.difference(channels);
	}

	/** The longest age if invalidations keep all values good; null if age does. */
	get invalidatedMs(): number | null {
		const isLimited = this.#isLimited || this.#limited.size > 0;
		return isLimited || this.#longest <= MAX_AGE_MS ? null : this.#longest;
	}

	/**
	 * How long a value in that slot, on that channel, lives. If invalidations keep it good, that is
	 * between half of the longest age and all of it: values that were read together,
	 * after a start for example, are not all read again together.
	 */
	at(slot: number, channel: number): number {
		const longest = this.#longest;
		if (longest <= MAX_AGE_MS) return longest;
		if (this.#isLimited || this.#limited.has(channel)) return MAX_AGE_MS;
		return longest * (1 - (slot % AGES) / (2 * AGES));
	}
}
