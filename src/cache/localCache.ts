import type { MaybePromise } from "../util/maybePromise.ts";
import { type CacheEntry, type KeptCounts, newCounts } from "./cacheEntry.ts";
import { CacheKey } from "./cacheKey.ts";
import {
	type CachePartition,
	type Joined,
	type Keys,
	type Load,
	type LocalCacheOptions,
	newPartition,
	type ReadOptions,
	SharedRead,
	type Wanted,
} from "./cachePartition.ts";
import type { LocalCacheLevel } from "./diagnostics.ts";
import { EntryAges } from "./entryAges.ts";
import type { KeptEntries } from "./keptEntries.ts";
import { END_MS, type Unpack } from "./packedEntries.ts";
import { ALL_CHANNELS, CHANNELS, SlotVersions } from "./slotVersions.ts";

/**
 * The cache inside the process: a bounded map in front of the slower layers.
 *
 * An entry lives for at most `maxAgeMs`, counted from before it was fetched. A
 * write invalidates it at once. No late fill brings a stale value back:
 * `invalidate` detaches the read of the key that runs, so that its value is
 * returned to the readers that wait for it, but neither cached nor shared with
 * later readers. What was made of entries, as whole answers, is valid for as
 * long as the versions of the slots of their keys do not rise.
 *
 * A hit costs one look into a table: time is taken once for many reads (`moment`),
 * and the order of eviction changes only when something is evicted.
 * A read of many keys that are missing is one object, the batch.
 */
export class LocalCache<V extends CacheEntry> {
	readonly #partitions = new Map<string, CachePartition<V>>();
	readonly #versions: SlotVersions;
	readonly #kept: KeptEntries;
	readonly #counts: KeptCounts = newCounts();
	readonly #now: () => number;
	readonly #isOverdue: () => boolean;
	readonly #untilProven: (() => Promise<void>) | undefined;
	/** Reads that run, by the slots of their keys; of several in one slot the latest. */
	readonly #running = new Array<SharedRead<V> | null>(RUNNING_SLOTS).fill(null);
	readonly #isKept: (value: V) => boolean;
	readonly #isBetter: ((cached: V, value: V) => boolean) | undefined;
	readonly #unpack: Unpack<V> | null;
	/** Rises where reads that run are detached whatever their keys. */
	#detached = 0;
	#hits = 0;
	#misses = 0;
	#refused = 0;
	readonly #ages: EntryAges;
	readonly #channelOf: (key: string, upper: number) => number;
	/** The key that is looked at. */
	readonly #key = new CacheKey();
	/** Channels. */
	#bypassed: ReadonlySet<number> = new Set();
	#isBypassedKey: ((key: string) => boolean) | null = null;

	constructor(options: LocalCacheOptions<V>) {
		this.#versions = new SlotVersions(options.versions, options.number);
		this.#channelOf = options.channelOf ?? (() => 0);
		this.#kept = options.kept;
		this.#now = options.now ?? (() => performance.now());
		this.#isOverdue = options.isOverdue ?? (() => false);
		this.#untilProven = options.untilProven;
		this.#isKept = options.isKept ?? (() => true);
		this.#isBetter = options.isBetter;
		this.#unpack = options.unpack ?? null;
		this.#ages = new EntryAges(options.maxAgeMs);
	}

	/** The part of the cache with its own keys, for example the heads of one mapping's lists. It exists from the first call on. */
	partition(name: string): CachePartition<V> {
		let partition = this.#partitions.get(name);
		if (partition === undefined) {
			const versions = this.#unpack === null ? null : this.#versions;
			partition = newPartition(name, this.#counts, versions);
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

	/** What is not there counts as missed when it is read. */
	get(
		partition: CachePartition<V>,
		key: string,
		moment: Moment = this.moment(),
	): V | undefined {
		const entry = this.#find(partition, key, moment);
		if (entry === undefined || moment >= entry.end) {
			if (entry !== undefined && moment !== OVERDUE) this.#kept.drop(entry);
			return undefined;
		}
		if (this.#isBypassedKey?.(key)) return undefined;
		this.#hits++;
		return entry;
	}

	/** Notes that it was read. */
	#find(
		partition: CachePartition<V>,
		key: string,
		moment: Moment,
	): V | undefined {
		const place = this.#placeOf(partition, key);
		const entry = this.#inHeap(partition, key, place);
		if (entry === undefined) {
			return place === 0 || moment === OVERDUE
				? undefined
				: this.#unpacked(partition, key, place, moment);
		}
		if (!entry.wasRead) entry.wasRead = true;
		return entry;
	}

	/** Where it is packed; 0 if it is not. */
	#placeOf(partition: CachePartition<V>, key: string): number {
		const { packed } = this.#kept;
		if (packed === null || partition.number === 0) return 0;
		this.#key.read(partition.hash, key);
		return packed.find(partition, this.#key);
	}

	#inHeap(
		{ entries }: CachePartition<V>,
		key: string,
		place: number,
	): V | undefined {
		if (place > 0) return this.#kept.packed?.unpacked(place) as V | undefined;
		// V8 hashes a key before it looks whether the map has any.
		return entries.size === 0 ? undefined : entries.get(key);
	}

	/** The entry that was packed, if nothing has changed that may be it. The key was read. */
	#unpacked(
		partition: CachePartition<V>,
		key: string,
		place: number,
		moment: Moment,
	): V | undefined {
		const { packed } = this.#kept;
		if (packed === null) return undefined;
		const slot = this.#versions.slotOf(this.#key);
		const channel = this.#channelOfKey(key);
		const end = packed.endAt(place);
		const proof = this.#versions.packedSumOf(slot, channel);
		const isGood = moment < end && packed.proofAt(place) === proof;
		const value =
			isGood && this.#unpack !== null
				? packed.unpackedAt(place, key, this.#unpack)
				: null;
		if (value === null) {
			this.#kept.dropPacked(partition, place, slot);
			return undefined;
		}
		value.slot = slot;
		value.channel = channel;
		value.end = end;
		value.proof = this.#versions.sumOf(slot, channel);
		value.key = key;
		if (packed.noteRead(place)) {
			this.#kept.addUnpacked(partition, key, value, place);
		}
		return value;
	}

	/**
	 * The values of `keys`, in order: from this cache, from a read that already
	 * runs, or from one `load` of all missing keys. Errors are not cached. If all
	 * are in this cache, they are returned at once. While nothing cached may be
	 * used, it waits, once, until that is over.
	 *
	 * `load` gets the options of its calls: callers that join wait for them too, so
	 * their signal is not that of the reader who came first (`SharedCall`).
	 */
	read<E extends Error>(
		keys: Keys<V>,
		load: Load<V | E>,
		options: ReadOptions<V> = {},
		hasWaited = false,
	): MaybePromise<(V | E)[]> {
		const moment = this.moment();
		if (moment === OVERDUE && this.#untilProven !== undefined && !hasWaited) {
			return this.#untilProven().then(() =>
				this.read(keys, load, options, true),
			);
		}
		const { suffices, depth = 0, call } = options;
		const { names, partitionOf } = keys;
		const found = new Array<V | E | undefined>(names.length);
		const missing: number[] = [];
		const slots: number[] = [];
		let joined: Joined<V>[] | null = null;
		for (let index = 0; index < names.length; index++) {
			const key = names[index] as string;
			const partition = partitionOf(index);
			const value = this.get(partition, key, moment);
			if (value !== undefined) {
				if (suffices?.(value, index) ?? true) {
					found[index] = value;
					continue;
				}
				this.#hits--;
			}
			this.#misses++;
			this.#key.read(partition.hash, key);
			const slot = this.#versions.slotOf(this.#key);
			const running = this.#running[slot % RUNNING_SLOTS] ?? null;
			const at =
				running !== null &&
				running.wanted.depth >= depth &&
				running.detached === this.#detached &&
				!running.call.isAbandoned &&
				moment !== OVERDUE &&
				!this.#isBypassedKey?.(key)
					? running.at(partition, key)
					: -1;
			if (running !== null && at >= 0) {
				joined ??= [];
				joined.push({ index, batch: running, at });
			} else {
				missing.push(index);
				slots.push(slot);
			}
		}
		call?.trace?.cache(
			"process",
			names.length - missing.length,
			missing.length,
		);
		const values = found as (V | E)[];
		if (missing.length === 0 && joined === null) return values;
		const wanted = { keys, missing, slots, load, depth, call };
		return this.#readMissing(values, joined, wanted);
	}

	async #readMissing<E extends Error>(
		values: (V | E)[],
		joined: readonly Joined<V>[] | null,
		wanted: Wanted<V, E>,
	): Promise<(V | E)[]> {
		const { missing, slots, load, call } = wanted;
		const signal = call?.signal;
		signal?.throwIfAborted();
		let own: SharedRead<V> | null = null;
		if (missing.length > 0) {
			// For this reader and all who join it.
			const readAt = this.#now();
			own = new SharedRead(wanted, this.#detached);
			const loading = load(missing, own);
			for (const slot of slots) this.#running[slot % RUNNING_SLOTS] = own;
			own.call.settleWith(this.#keepRead(loading, own, readAt));
		}
		const batches = new Set(own === null ? [] : [own]);
		for (const { batch } of joined ?? []) batches.add(batch);
		// All at once: what nobody waits for meanwhile could be given up.
		const waits = Array.from(batches, (batch) => batch.call.wait(signal));
		const ended =
			waits.length > 1 ? await Promise.all(waits) : [await waits[0]];
		for (let at = 0; at < missing.length; at++) {
			values[missing[at] as number] = ended[0]?.[at] as V | E;
		}
		if (joined === null) return values;
		const order = [...batches];
		const again: number[] = [];
		for (const { index, batch, at } of joined) {
			const value = ended[order.indexOf(batch)]?.[at] as V | E;
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

	/** Keeps what was read, unless it was invalidated meanwhile. */
	async #keepRead(
		loading: Promise<readonly (V | Error)[]>,
		batch: SharedRead<V>,
		readAt: number,
	): Promise<readonly (V | Error)[]> {
		const { slots } = batch.wanted;
		let values: readonly (V | Error)[] = [];
		try {
			values = await loading;
			return values;
		} finally {
			const isStale = batch.detached !== this.#detached || this.#isOverdue();
			for (let at = 0; at < slots.length; at++) {
				const slot = slots[at] as number;
				const value = values[at];
				if (this.#kept.isNothing || value === undefined) continue;
				if (value instanceof Error) continue;
				const isOwn = this.#running[slot % RUNNING_SLOTS] === batch;
				if (isOwn && !isStale) this.#fill(batch, at, value, readAt);
				else this.#refused++;
			}
			for (const slot of slots) {
				const at = slot % RUNNING_SLOTS;
				if (this.#running[at] === batch) this.#running[at] = null;
			}
		}
	}

	#fill({ wanted }: SharedRead<V>, at: number, value: V, readAt: number): void {
		if (!this.#isKept(value)) return;
		const index = wanted.missing[at] as number;
		const slot = wanted.slots[at] as number;
		const key = wanted.keys.names[index] as string;
		const partition = wanted.keys.partitionOf(index);
		this.#key.read(partition.hash, key);
		const channel = this.#channelOfKey(key);
		if (this.#bypassed.has(channel)) {
			this.#refused++;
			return;
		}
		if (value.home !== null) this.#kept.drop(value);
		value.slot = slot;
		value.channel = channel;
		const end = readAt + this.#ages.at(value.slot, channel);
		value.end = this.#unpack === null ? end : Math.floor(end / END_MS) * END_MS;
		if (!this.#isBypassedKey?.(key)) {
			value.proof = this.#versions.sumOf(slot, channel);
		}
		const former = this.#find(partition, key, this.#now());
		if (former === undefined && !this.#kept.admits(partition, slot)) return;
		if (former !== undefined) {
			if (this.#isBetter?.(former, value) && this.#now() < former.end) return;
			this.#drop(partition, key, slot);
		}
		this.#put(partition, key, value);
	}

	/** Rises with each change of the key, and whatever else may end what is cached of it. */
	versionOf(partition: CachePartition<V>, key: string): number {
		this.#key.read(partition.hash, key);
		const slot = this.#versions.slotOf(this.#key);
		return this.#versions.sumOf(slot, this.#channelOfKey(key));
	}

	/** Keeps what a writer made of the cached value, once that was dropped. The writer knows that nothing else has changed the key since. `end` is that of the former value. */
	keep(partition: CachePartition<V>, key: string, value: V, end: number): void {
		const moment = this.moment();
		if (moment >= end || this.#kept.isNothing) return;
		// What is there was read after the drops, and has the change too.
		if (this.#find(partition, key, moment) !== undefined) return;
		this.#key.read(partition.hash, key);
		value.slot = this.#versions.slotOf(this.#key);
		// A read that runs began after the drops, and may know more.
		if (this.#running[value.slot % RUNNING_SLOTS] !== null) return;
		value.channel = this.#channelOfKey(key);
		value.end = end;
		value.proof = this.#versions.sumOf(value.slot, value.channel);
		this.#put(partition, key, value);
	}

	/** The key was read. */
	#put(partition: CachePartition<V>, key: string, value: V): void {
		if (this.#kept.pack(partition, this.#key, value)) return;
		this.#kept.add(partition, key, value);
	}

	/** The key was read. */
	#channelOfKey(key: string): number {
		return this.#channelOf(key, this.#key.words[0] as number);
	}

	/** Drops the key, and detaches reads of it that run. Call it when a change is committed, and when it may have been. */
	invalidate(partition: CachePartition<V>, key: string): void {
		this.#key.read(partition.hash, key);
		const slot = this.#versions.slotOf(this.#key);
		this.#running[slot % RUNNING_SLOTS] = null;
		if (this.#kept.isNothing) return;
		this.#versions.raise(slot);
		this.#drop(partition, key, slot);
	}

	#drop(partition: CachePartition<V>, key: string, slot: number): void {
		const place = this.#placeOf(partition, key);
		const entry = this.#inHeap(partition, key, place);
		if (entry !== undefined) this.#kept.drop(entry);
		else if (place > 0) this.#kept.dropPacked(partition, place, slot);
	}

	/** Drops every key, and detaches all reads that run. */
	invalidateAll(): void {
		this.invalidateChannels(ALL_CHANNELS);
	}

	/** Drops the keys of these channels, and detaches all reads that run. */
	invalidateChannels(channels: ReadonlySet<number>): void {
		this.#detachAll(channels);
		this.#dropWhere(({ channel }) => channels.has(channel));
	}

	/**
	 * Drops the keys that match, in every partition, and what is packed of the
	 * channels on which these are (default: of this cache). Reads that run are
	 * detached, whatever their key: a read of a matching key may run without being
	 * known by it.
	 */
	invalidateWhere(
		matches: (key: string) => boolean,
		channels?: ReadonlySet<number>,
	): void {
		if (channels === undefined) {
			this.#detached++;
			this.#versions.raiseAll();
		} else this.#detachAll(channels);
		this.#dropWhere(({ key }) => matches(key));
	}

	/** Detaches all reads that run, and ends what was made of entries of these channels, and what is packed of them. */
	#detachAll(channels: ReadonlySet<number>): void {
		this.#detached++;
		this.#versions.raiseChannels(channels, true);
		if (channels.size === CHANNELS) this.#kept.dropAllPacked();
	}

	#dropWhere(matches: (entry: CacheEntry) => boolean): void {
		this.#kept.dropWhere(this.#counts, matches);
	}

	/** While on, nothing of these channels is cached: for a time in which invalidations of other processes are not received on them. */
	bypass(channels: ReadonlySet<number>, on: boolean): void {
		this.#bypassed = on
			? this.#bypassed.union(channels)
			: this.#bypassed.difference(channels);
		this.invalidateChannels(channels);
	}

	/** While on, values live ten seconds at most: for a time in which some process publishes nothing of what it writes. */
	limitAge(on: boolean): void {
		this.#ages.limit(on);
		// Those that were kept for longer.
		if (on) this.invalidateAll();
	}

	/** While on, values of these channels live ten seconds at most: for a time in which invalidations of other processes are not received on them, and are looked for elsewhere. */
	limitAgeOf(channels: ReadonlySet<number>, on: boolean): void {
		this.#ages.limitOf(channels, on);
		this.invalidateChannels(channels);
	}

	/** How long what is made of cached values may be used: as long as a value if invalidations keep it good; null if age does, and each value's `end` counts. */
	get invalidatedAgeMs(): number | null {
		return this.#ages.invalidatedMs;
	}

	/** Keys that are read past this cache until the next call; null for none. Their entries stay, are invalidated, and are good again afterwards; what was made of them, on these channels, is not. */
	bypassKeys(
		isBypassed: ((key: string) => boolean) | null,
		channels: ReadonlySet<number>,
	): void {
		this.#isBypassedKey = isBypassed;
		this.#detached++;
		this.#versions.raiseChannels(channels, false);
	}

	/** Rises with each entry that is added or dropped. */
	get changes(): number {
		return this.#counts.changes;
	}

	/** What it holds, and how often it was asked since it was opened. */
	level(): Omit<LocalCacheLevel, "cache"> {
		let entries = 0;
		for (const partition of this.#partitions.values()) {
			entries += partition.entries.size;
		}
		entries += this.#counts.packed;
		return {
			hits: this.#hits,
			misses: this.#misses,
			refused: this.#refused,
			evictions: this.#counts.evictions,
			entries,
			bytes: this.#counts.weight + this.#counts.packedBytes,
		};
	}
}

/**
 * A table of fixed size. A map that keys come to and leave is copied again and again,
 * and V8 links each copy to the next one: once one is old, what any of them refers to stays.
 */
const RUNNING_SLOTS = 1 << 15;

/** When something is read: milliseconds on the cache's clock. */
export type Moment = number;

/** Later than the end of every entry. */
export const OVERDUE: Moment = Number.POSITIVE_INFINITY;
