import type { CacheKey } from "./cacheKey.ts";

/** Invalidations of other processes arrive in so many parts (freshness/channels.ts), each of which may be lost by itself. */
export const CHANNELS = 32;
export const ALL_CHANNELS: ReadonlySet<number> = new Set(
	Array(CHANNELS).keys(),
);

/** A table of versions for that many caches. The first one rises with each of the others, and two for each channel follow. */
export function versionsFor(caches: number): Uint32Array {
	return new Uint32Array(KEY_SLOTS + caches * SLOTS);
}

export const CHANGES_SLOT = 0;
/** That of channel 0. */
export const CHANNEL_SLOTS = 1;
/** That of channel 0 which rises only if what is cached on the channel is dropped. */
const DROP_SLOTS = CHANNEL_SLOTS + CHANNELS;
const KEY_SLOTS = DROP_SLOTS + CHANNELS;

/** Two keys in one slot cost an occasional refill, never a wrong value. A whole answer depends on a hundred slots. */
const SLOTS = 1 << 18;

/**
 * The versions of one cache, which has a part of the table: one for each slot of
 * key hashes. Those of the channels belong to all caches.
 */
export class SlotVersions {
	/** The cache's first slot. */
	readonly #first: number;
	readonly #table: Uint32Array;

	constructor(table = versionsFor(1), number = 0) {
		this.#table = table;
		this.#first = KEY_SLOTS + number * SLOTS;
	}

	slotOf({ hash }: CacheKey): number {
		return this.#first + (hash & (SLOTS - 1));
	}

	/** The versions of a slot and a channel together. Either only rises. */
	sumOf(slot: number, channel: number): number {
		return sumOfVersions(this.#table, slot, channel);
	}

	/** The same for an entry that is packed, which stays while its key is read past the cache. */
	packedSumOf(slot: number, channel: number): number {
		const table = this.#table;
		return (
			((table[slot] as number) + (table[DROP_SLOTS + channel] as number)) >>> 0
		);
	}

	raise(slot: number): void {
		this.#add(slot);
		this.#add(CHANGES_SLOT);
	}

	/** Raises the version of every key of this cache alone. */
	raiseAll(): void {
		const end = this.#first + SLOTS;
		for (let slot = this.#first; slot < end; slot++) this.#add(slot);
		this.#add(CHANGES_SLOT);
	}

	/** Raises the version of every key on these channels, in all caches: of those that are packed too, if entries are dropped. */
	raiseChannels(channels: Iterable<number>, areDropped: boolean): void {
		for (const channel of channels) {
			this.#add(CHANNEL_SLOTS + channel);
			if (areDropped) this.#add(DROP_SLOTS + channel);
		}
		this.#add(CHANGES_SLOT);
	}

	#add(slot: number): void {
		this.#table[slot] = ((this.#table[slot] as number) + 1) >>> 0;
	}
}

export function sumOfVersions(
	table: Uint32Array,
	slot: number,
	channel: number,
): number {
	return (table[slot] as number) + (table[CHANNEL_SLOTS + channel] as number);
}
