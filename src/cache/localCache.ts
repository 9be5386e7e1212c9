import type { CallOptions, LocalCacheLevel, Trace } from "../diagnostics.ts";
import { fnv1a } from "../util/fnv1a.ts";
import type { MaybePromise } from "../util/maybePromise.ts";
import { RecencyList } from "../util/recencyList.ts";
import { SharedCall } from "../util/sharedCall.ts";
import type { CacheEntry } from "./cacheEntry.ts";

/**
 * The cache inside the process: a bounded map in front of the slower layers.
 *
 * An entry lives for at most `maxAgeMs`, counted from before it was fetched. A
 * write invalidates it at once. A version for each slot of key hashes keeps a
 * late fill from bringing a stale value back: `invalidate` raises the version,
 * and a value whose read began before that is returned to the readers that wait
 * for it, but neither cached nor shared with later readers.
 *
 * A hit costs one look into a map: time is taken once for many reads
 * (`moment`), keys are hashed for their slot only when they are filled and
 * invalidated, and the order of eviction changes only when something is evicted.
 */
export class LocalCache<V extends CacheEntry> {
	readonly #partitions = new Map<string, CachePartition<V>>();
	readonly #maxWeight: number;
	readonly #versions: Uint32Array;
	readonly #firstSlot: number;
	readonly #now: () => number;
	readonly #isOverdue: () => boolean;
	readonly #untilProven: (() => Promise<void>) | undefined;
	readonly #isKept: (value: V) => boolean;
	readonly #isBetter: ((cached: V, value: V) => boolean) | undefined;
	#weight = 0;
	#changes = 0;
	#hits = 0;
	#misses = 0;
	#refused = 0;
	#evictions = 0;
	readonly #recency = new RecencyList<CacheEntry>();
	readonly #longestAgeMs: number;
	#maxAgeMs: number;
	#bypassed = false;
	#isBypassedKey: ((key: string) => boolean) | null = null;

	constructor(options: {
		/** Bytes. With 0 nothing is cached, and running reads are still joined. */
		readonly maxWeight: number;
		/** Whether a value may be cached: false for one whose change invalidates nothing. It is not shared with readers that joined its read either. */
		readonly isKept?: (value: V) => boolean;
		/** Whether what is cached has all that `value` has, and more: then it is kept. */
		readonly isBetter?: (cached: V, value: V) => boolean;
		/** How long a value is good if nothing invalidates it. Milliseconds. */
		readonly maxAgeMs?: number;
		/** A table of versions that several caches share, and which of them this one is. */
		readonly versions?: Uint32Array;
		readonly number?: number;
		/** Milliseconds. */
		readonly now?: () => number;
		/** Whether this process stood still and has not yet received what others invalidated meanwhile. Asked at each read, because requests may come before timers. */
		readonly isOverdue?: () => boolean;
		/** Settles when that has ended. Absent: reads do not wait for it. */
		readonly untilProven?: () => Promise<void>;
	}) {
		this.#maxWeight = options.maxWeight;
		this.#versions = options.versions ?? versionsFor(1);
		this.#firstSlot = 1 + (options.number ?? 0) * SLOTS;
		this.#now = options.now ?? (() => performance.now());
		this.#isOverdue = options.isOverdue ?? (() => false);
		this.#untilProven = options.untilProven;
		this.#isKept = options.isKept ?? (() => true);
		this.#isBetter = options.isBetter;
		this.#longestAgeMs = options.maxAgeMs ?? MAX_AGE_MS;
		this.#maxAgeMs = this.#longestAgeMs;
	}

	/** The part of the cache with its own keys, for example the heads of one mapping's lists. It exists from the first call on. */
	partition(name: string): CachePartition<V> {
		let partition = this.#partitions.get(name);
		if (partition === undefined) {
			partition = {
				entries: new Map(),
				running: new Map(),
				hash: fnv1a(`${name} `),
			};
			this.#partitions.set(name, partition);
		}
		return partition;
	}

	existingPartition(name: string): CachePartition<V> | undefined {
		return this.#partitions.get(name);
	}

	/** Now, for reads that follow without a wait in between; `OVERDUE` while nothing cached may be used. */
	moment(): Moment {
		return this.#isOverdue() ? OVERDUE : this.#now();
	}

	get(
		partition: CachePartition<V>,
		key: string,
		moment: Moment = this.moment(),
	): V | undefined {
		const entry = partition.entries.get(key);
		if (entry === undefined || moment >= entry.end) {
			if (entry !== undefined && moment !== OVERDUE) this.#drop(entry);
			this.#misses++;
			return undefined;
		}
		if (this.#isBypassedKey?.(key)) {
			this.#misses++;
			return undefined;
		}
		this.#hits++;
		if (!entry.wasRead) entry.wasRead = true;
		return entry;
	}

	/**
	 * The values of `keys`, in order: from this cache, from a read that already
	 * runs, or from one `load` of all missing keys. Errors are not cached. If all
	 * are in this cache, they are returned at once. While nothing cached may be
	 * used, it waits, once, until that is over.
	 *
	 * `load` gets the options of its calls: whoever joins waits for them too, so
	 * their signal is not that of the reader who came first (`SharedCall`).
	 */
	read<E extends Error>(
		keys: readonly CacheKey<V>[],
		load: Load<V | E>,
		options: {
			/** Whether a cached value suffices; if not, the key is read again. */
			readonly suffices?: (value: V, index: number) => boolean;
			/** How much of a value is read. A running read is joined if it reads as much. */
			readonly depth?: number;
			readonly call?: CallOptions | undefined;
		} = {},
		hasWaited = false,
	): MaybePromise<(V | E)[]> {
		const moment = this.moment();
		if (moment === OVERDUE && this.#untilProven !== undefined && !hasWaited) {
			return this.#untilProven().then(() =>
				this.read(keys, load, options, true),
			);
		}
		const { suffices, depth = 0, call } = options;
		const found = new Array<V | E | undefined>(keys.length);
		const missing: number[] = [];
		const joined: { index: number; running: Running<V> }[] = [];
		for (let index = 0; index < keys.length; index++) {
			const { partition, key } = keys[index] as CacheKey<V>;
			const value = this.get(partition, key, moment);
			if (value !== undefined && (suffices?.(value, index) ?? true)) {
				found[index] = value;
				continue;
			}
			const running =
				moment === OVERDUE || this.#isBypassedKey?.(key)
					? undefined
					: partition.running.get(key);
			if (
				running !== undefined &&
				running.depth >= depth &&
				running.version === this.#versions[running.slot] &&
				!running.batch.isAbandoned
			) {
				joined.push({ index, running });
			} else {
				missing.push(index);
			}
		}
		call?.trace?.cache("process", keys.length - missing.length, missing.length);
		const values = found as (V | E)[];
		return missing.length + joined.length === 0
			? values
			: this.#fillIn(values, keys, missing, joined, load, depth, call);
	}

	async #fillIn<E extends Error>(
		values: (V | E)[],
		keys: readonly CacheKey<V>[],
		missing: readonly number[],
		joined: readonly { readonly index: number; readonly running: Running<V> }[],
		load: Load<V | E>,
		depth: number,
		call: CallOptions | undefined,
	): Promise<(V | E)[]> {
		const signal = call?.signal;
		signal?.throwIfAborted();
		const own =
			missing.length === 0
				? null
				: this.#load(keys, missing, load, depth, call?.trace);
		const batches = new Set(joined.map(({ running }) => running.batch));
		if (own !== null) batches.add(own);
		// All at once: what nobody waits for meanwhile could be given up.
		const waits = Array.from(batches, (batch) => batch.wait(signal));
		const [first] = waits;
		const ended =
			first !== undefined && waits.length === 1
				? [await first]
				: await Promise.all(waits);
		const results = new Map(
			Array.from(batches, (batch, at) => [batch, ended[at] ?? []]),
		);
		const loaded = own === null ? [] : results.get(own);
		for (let at = 0; at < missing.length; at++) {
			values[missing[at] as number] = loaded?.[at] as V | E;
		}
		const again: number[] = [];
		for (const { index, running } of joined) {
			const value = results.get(running.batch)?.[running.at] as V | E;
			if (value instanceof Error || this.#isKept(value)) values[index] = value;
			else again.push(index);
		}
		if (again.length === 0) return values;
		// Read again by this reader, which came later than the one that it joined.
		const reread = await load(again, call);
		for (const [at, index] of again.entries()) {
			values[index] = reread[at] as V | E;
		}
		return values;
	}

	/** Starts to read, for this reader and all who join it. */
	#load<E extends Error>(
		keys: readonly CacheKey<V>[],
		missing: readonly number[],
		load: Load<V | E>,
		depth: number,
		trace: Trace | undefined,
	): SharedCall<readonly (V | Error)[]> {
		const readAt = this.#now();
		const started: Running<V>[] = [];
		const batch = new SharedCall<readonly (V | Error)[]>(async (signal) => {
			let values: readonly (V | E)[] | null = null;
			try {
				values = await load(missing, { signal, trace });
				return values;
			} finally {
				for (const running of started) {
					const { partition, key } = keys[
						missing[running.at] as number
					] as CacheKey<V>;
					this.#end(partition, key, running, values?.[running.at], readAt);
				}
			}
		});
		for (let at = 0; at < missing.length; at++) {
			const { partition, key } = keys[missing[at] as number] as CacheKey<V>;
			// Where nothing is kept, only running reads are to be detached, and `invalidate` finds those by key.
			const slot =
				this.#maxWeight === 0 ? this.#firstSlot : this.#slotOf(partition, key);
			const version = this.#versions[slot] as number;
			const running = { batch, at, depth, slot, version };
			partition.running.set(key, running);
			started.push(running);
		}
		return batch;
	}

	#end(
		partition: CachePartition<V>,
		key: string,
		running: Running<V>,
		value: V | Error | undefined,
		readAt: number,
	): void {
		const { slot, version } = running;
		if (
			this.#maxWeight > 0 &&
			value !== undefined &&
			!(value instanceof Error)
		) {
			if (version !== this.#versions[slot]) this.#refused++;
			else this.#keep(partition, key, value, slot, readAt);
		}
		if (partition.running.get(key) === running) partition.running.delete(key);
	}

	/** Drops the key, and detaches reads of it that run. Call it when a change is committed, and when it may have been. */
	invalidate(partition: CachePartition<V>, key: string): void {
		partition.running.delete(key);
		if (this.#maxWeight === 0) return;
		this.#raise(this.#slotOf(partition, key));
		this.#raise(CHANGES_SLOT);
		const entry = partition.entries.get(key);
		if (entry !== undefined) this.#drop(entry);
	}

	/** Drops every key, and detaches all reads that run. */
	invalidateAll(): void {
		this.#raiseAll();
		while (this.#recency.oldest !== null) this.#drop(this.#recency.oldest);
	}

	/**
	 * Drops the keys that match, in every partition. Reads that run are detached,
	 * whatever their key: a read of a matching key may run without being known by it.
	 */
	invalidateWhere(matches: (key: string) => boolean): void {
		this.#raiseAll();
		for (const { entries } of this.#partitions.values()) {
			for (const [key, entry] of entries) {
				if (matches(key)) this.#drop(entry);
			}
		}
	}

	/** While on, nothing is cached: for a time in which invalidations of other processes are not received. */
	bypass(on: boolean): void {
		this.#bypassed = on;
		this.invalidateAll();
	}

	/** While on, values live ten seconds at most: for a time in which some process publishes nothing of what it writes. */
	limitAge(on: boolean): void {
		this.#maxAgeMs = on
			? Math.min(MAX_AGE_MS, this.#longestAgeMs)
			: this.#longestAgeMs;
		// Those that were kept for longer.
		if (on) this.invalidateAll();
	}

	/** How long what is made of cached values may be used: as long as a value where invalidations keep it good; null where age does, and each value's `end` counts. */
	get invalidatedAgeMs(): number | null {
		return this.#maxAgeMs > MAX_AGE_MS ? this.#maxAgeMs : null;
	}

	/**
	 * How long a value in that slot lives. Where invalidations keep it good, that is
	 * between half of the longest age and all of it: values that were read together,
	 * after a start for example, are not all read again together.
	 */
	#ageAt(slot: number): number {
		const longest = this.#maxAgeMs;
		return longest > MAX_AGE_MS
			? longest * (1 - (slot % AGES) / (2 * AGES))
			: longest;
	}

	/** Keys that are read past this cache until the next call; null for none. Their entries stay, are invalidated, and are good again afterwards. */
	bypassKeys(isBypassed: ((key: string) => boolean) | null): void {
		this.#isBypassedKey = isBypassed;
	}

	get isBypassingKeys(): boolean {
		return this.#isBypassedKey !== null;
	}

	/** A value that is kept here takes more memory than when it was read. */
	grow(entry: V, bytes: number): void {
		if (entry.home === null) return;
		entry.weight += bytes;
		this.#weight += bytes;
		this.#evict();
	}

	/** Rises with each entry that is added or dropped. */
	get changes(): number {
		return this.#changes;
	}

	/** Bytes of all entries, approximately. */
	get weight(): number {
		return this.#weight;
	}

	/** What it holds, and how often it was asked since it was opened. */
	level(): Omit<LocalCacheLevel, "cache"> {
		let entries = 0;
		for (const partition of this.#partitions.values()) {
			entries += partition.entries.size;
		}
		return {
			hits: this.#hits,
			misses: this.#misses,
			refused: this.#refused,
			evictions: this.#evictions,
			entries,
			bytes: this.#weight,
		};
	}

	#raiseAll(): void {
		const end = this.#firstSlot + SLOTS;
		for (let slot = this.#firstSlot; slot < end; slot++) this.#raise(slot);
		this.#raise(CHANGES_SLOT);
	}

	#raise(slot: number): void {
		this.#versions[slot] = ((this.#versions[slot] as number) + 1) >>> 0;
	}

	#slotOf({ hash }: CachePartition<V>, key: string): number {
		return this.#firstSlot + (fnv1a(key, hash) % SLOTS);
	}

	#keep(
		{ entries }: CachePartition<V>,
		key: string,
		value: V,
		slot: number,
		readAt: number,
	): void {
		if (this.#bypassed || this.#isOverdue()) {
			this.#refused++;
			return;
		}
		if (!this.#isKept(value)) return;
		const former = entries.get(key);
		if (former !== undefined) {
			if (this.#isBetter?.(former, value) && this.#now() < former.end) return;
			this.#drop(former);
		}
		if (value.home !== null) this.#drop(value);
		if (value.weight + ENTRY_BYTES > this.#maxWeight) return;
		value.weight += ENTRY_BYTES;
		value.key = key;
		value.slot = slot;
		value.end = Math.floor(readAt + this.#ageAt(slot));
		value.wasRead = false;
		value.home = entries;
		this.#changes++;
		entries.set(key, value);
		this.#recency.add(value);
		this.#weight += value.weight;
		this.#evict();
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
				this.#drop(entry);
				this.#evictions++;
			}
		}
	}

	#drop(entry: CacheEntry): void {
		entry.home?.delete(entry.key);
		entry.home = null;
		this.#changes++;
		this.#recency.remove(entry);
		this.#weight -= entry.weight;
		entry.weight -= ENTRY_BYTES;
	}
}

/** Keys of one kind in a local cache, so that none is put together of several parts at each read. */
export interface CachePartition<V extends CacheEntry> {
	readonly entries: Map<string, V>;
	readonly running: Map<string, Running<V>>;
	/** Of its name; a key's hash continues it. */
	readonly hash: number;
}

export interface CacheKey<V extends CacheEntry> {
	readonly partition: CachePartition<V>;
	readonly key: string;
}

/** When something is read: milliseconds on the cache's clock. */
export type Moment = number;

/** Later than the end of every entry. */
export const OVERDUE: Moment = Number.POSITIVE_INFINITY;

/** A table of versions for that many caches. The first one rises with each of the others. */
export function versionsFor(caches: number): Uint32Array {
	return new Uint32Array(1 + caches * SLOTS);
}

export const CHANGES_SLOT = 0;

/** Reads the values of the missing keys, with these options. */
type Load<T> = (
	missing: readonly number[],
	call: CallOptions | undefined,
) => Promise<readonly T[]>;

interface Running<V> {
	readonly batch: SharedCall<readonly (V | Error)[]>;
	readonly at: number;
	readonly depth: number;
	readonly slot: number;
	readonly version: number;
}

/** The bound on staleness where nothing else keeps it: no cached value is older than this. */
export const MAX_AGE_MS = 10_000;
/** Where invalidations keep the bound: an entry that is not evicted lives this long at most, and half as long at least. */
export const INVALIDATED_MAX_AGE_MS = 1_800_000;
/** Different ages of entries. */
const AGES = 1_024;
/** Two keys in one slot cost an occasional refill, never a wrong value. A whole answer depends on a hundred slots. */
const SLOTS = 1 << 18;
/** Fields, key and place in the map of an entry, in bytes, approximately. */
export const ENTRY_BYTES = 180;
/** Entries that one eviction passes over; so it takes microseconds also where all were read. */
const MAX_PASSES = 64;
