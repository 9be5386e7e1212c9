import type { Trace } from "../diagnostics.ts";
import { BoundedMap } from "../util/boundedMap.ts";
import { fnv1a } from "../util/fnv1a.ts";
import type { MaybePromise } from "../util/maybePromise.ts";

/**
 * The cache inside the process: a bounded map in front of the slower layers.
 *
 * An entry lives for at most `maxAgeMs`, counted from before it was fetched. A
 * write invalidates it at once. A version for each slot of key hashes keeps a
 * late fill from bringing a stale value back: `invalidate` raises the version,
 * and a value whose read began before that is returned to the readers that wait
 * for it, but neither cached nor shared with later readers.
 */
export class LocalCache<V> {
	readonly #entries: BoundedMap<V>;
	readonly #running = new Map<string, Running<V>>();
	readonly #versions = new Uint32Array(SLOTS);
	readonly #now: () => number;
	readonly #isOverdue: () => boolean;
	readonly #isBetter: ((cached: V, value: V) => boolean) | undefined;
	readonly #maxAgeMs: number;
	#bypassed = false;
	#isBypassedKey: ((key: string) => boolean) | null = null;

	constructor(options: {
		/** The approximate size of a value, in bytes. */
		readonly weigh: (value: V) => number;
		/** Bytes. With 0 nothing is cached, and running reads are still joined. */
		readonly maxWeight: number;
		/** Whether what is cached has all that `value` has, and more: then it is kept. */
		readonly isBetter?: (cached: V, value: V) => boolean;
		/** How long a value is good if nothing invalidates it. Milliseconds. */
		readonly maxAgeMs?: number;
		/** Milliseconds. */
		readonly now?: () => number;
		/** Whether this process stood still and has not yet received what others invalidated meanwhile. Asked at each read, because requests may come before timers. */
		readonly isOverdue?: () => boolean;
	}) {
		this.#now = options.now ?? (() => performance.now());
		this.#isOverdue = options.isOverdue ?? (() => false);
		this.#isBetter = options.isBetter;
		this.#maxAgeMs = options.maxAgeMs ?? MAX_AGE_MS;
		this.#entries = new BoundedMap<V>({
			maxWeight: options.maxWeight,
			weigh: (value) => options.weigh(value) + ENTRY_WEIGHT,
			now: this.#now,
		});
	}

	get(key: string): V | undefined {
		return this.#isUnusable(key) ? undefined : this.#entries.get(key);
	}

	#isUnusable(key: string): boolean {
		return this.#isOverdue() || this.#isBypassedKey?.(key) === true;
	}

	/**
	 * The values of `keys`, in order: from this cache, from a read that already
	 * runs, or from one `load` of all missing keys. Errors are not cached. If all
	 * are in this cache, they are returned at once.
	 */
	read<E extends Error>(
		keys: readonly string[],
		load: (missing: readonly number[]) => Promise<readonly (V | E)[]>,
		options: {
			/** Whether a cached value suffices; if not, the key is read again. */
			readonly suffices?: (value: V, index: number) => boolean;
			/** How much of a value is read. A running read is joined if it reads as much. */
			readonly depth?: number;
			readonly trace?: Trace | undefined;
		} = {},
	): MaybePromise<(V | E)[]> {
		const { suffices, depth = 0, trace } = options;
		const found = new Array<V | E | undefined>(keys.length);
		const missing: number[] = [];
		const joined: { index: number; running: Running<V> }[] = [];
		for (let index = 0; index < keys.length; index++) {
			const key = keys[index] as string;
			const value = this.get(key);
			if (value !== undefined && (suffices?.(value, index) ?? true)) {
				found[index] = value;
				continue;
			}
			const running = this.#isUnusable(key)
				? undefined
				: this.#running.get(key);
			if (
				running !== undefined &&
				running.depth >= depth &&
				running.version === this.#versions[slot(key)]
			) {
				joined.push({ index, running });
			} else {
				missing.push(index);
			}
		}
		trace?.cache("process", keys.length - missing.length, missing.length);
		const values = found as (V | E)[];
		return missing.length + joined.length === 0
			? values
			: this.#fillIn(values, keys, missing, joined, load, depth);
	}

	async #fillIn<E extends Error>(
		values: (V | E)[],
		keys: readonly string[],
		missing: readonly number[],
		joined: readonly { readonly index: number; readonly running: Running<V> }[],
		load: (missing: readonly number[]) => Promise<readonly (V | E)[]>,
		depth: number,
	): Promise<(V | E)[]> {
		if (missing.length > 0) {
			const loaded = await this.#load(keys, missing, load, depth);
			for (const [at, index] of missing.entries()) {
				values[index] = loaded[at] as V | E;
			}
		}
		for (const { index, running } of joined) {
			values[index] = (await running.batch)[running.at] as V | E;
		}
		return values;
	}

	async #load<E extends Error>(
		keys: readonly string[],
		missing: readonly number[],
		load: (missing: readonly number[]) => Promise<readonly (V | E)[]>,
		depth: number,
	): Promise<readonly (V | E)[]> {
		const readAt = this.#now();
		const batch = load(missing);
		const started = missing.map((index, at) => {
			const key = keys[index] as string;
			const running = {
				batch,
				at,
				depth,
				version: this.#versions[slot(key)] as number,
			};
			this.#running.set(key, running);
			return { key, running };
		});
		try {
			const values = await batch;
			for (const { key, running } of started) {
				const value = values[running.at];
				if (
					value !== undefined &&
					!(value instanceof Error) &&
					running.version === this.#versions[slot(key)]
				) {
					this.#keep(key, value, readAt);
				}
			}
			return values;
		} finally {
			for (const { key, running } of started) {
				if (this.#running.get(key) === running) this.#running.delete(key);
			}
		}
	}

	/** Drops the key, and detaches reads of it that run. Call it when a change is committed, and when it may have been. */
	invalidate(key: string): void {
		const at = slot(key);
		this.#versions[at] = ((this.#versions[at] as number) + 1) >>> 0;
		this.#entries.delete(key);
	}

	/** Drops every key, and detaches all reads that run. */
	invalidateAll(): void {
		for (const [at, version] of this.#versions.entries()) {
			this.#versions[at] = (version + 1) >>> 0;
		}
		this.#entries.clear();
	}

	/** While on, nothing is cached: for a time in which invalidations of other processes are not received. */
	bypass(on: boolean): void {
		this.#bypassed = on;
		this.invalidateAll();
	}

	/** Keys that are read past this cache until the next call; null for none. Their entries stay, are invalidated, and are good again afterwards. */
	bypassKeys(isBypassed: ((key: string) => boolean) | null): void {
		this.#isBypassedKey = isBypassed;
	}

	#keep(key: string, value: V, readAt: number): void {
		if (this.#bypassed || this.#isOverdue()) return;
		if (this.#isBetter !== undefined) {
			const cached = this.#entries.get(key);
			if (cached !== undefined && this.#isBetter(cached, value)) return;
		}
		this.#entries.set(key, value, readAt + this.#maxAgeMs - this.#now());
	}
}

interface Running<V> {
	readonly batch: Promise<readonly (V | Error)[]>;
	readonly at: number;
	readonly depth: number;
	readonly version: number;
}

/** The bound on staleness where nothing else keeps it: no cached value is older than this. */
export const MAX_AGE_MS = 10_000;
/** Where invalidations keep the bound: an entry that is not evicted lives this long. */
export const INVALIDATED_MAX_AGE_MS = 600_000;
/** Two keys in one slot cost an occasional refill, never a wrong value. */
const SLOTS = 1 << 16;
/** Key, map entry and record of an entry, in bytes, approximately. */
const ENTRY_WEIGHT = 200;

function slot(key: string): number {
	return fnv1a(key) % SLOTS;
}
