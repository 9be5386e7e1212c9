import type { CacheEntry, EntryHome } from "./cacheEntry.ts";
import { type CacheKey, hashOf } from "./cacheKey.ts";
import type { HeapEntries } from "./heapEntries.ts";

/**
 * Entries as bytes outside of V8's heap, so that a collection of garbage does not
 * look at them: one block of memory, and an index of it by key, which is an id. It
 * has no clock and no versions. The caller that finds an entry decides whether it is still good.
 *
 * The entries lie one behind the other. Room for a new one is made where a hand
 * stands that goes through the block from its start to its end, again and again.
 * What was used since the hand came by moves down to what is kept already; the rest
 * is evicted (the CLOCK algorithm).
 *
 * Most of what is read is not worth a place in the heap: it would grow old there, and
 * V8 marks the heap anew for every few megabytes that do. One read in sixteen gets the
 * entry a place, so what is read again and again has one soon, and nobody counts reads.
 * While the heap has an entry too, it stays here and says where that is: so one look
 * finds both, and nothing is written when it leaves the heap.
 */
export class PackedEntries {
	readonly #words: Uint32Array;
	readonly #bytes: Buffer;
	/** The first entry of each chain. */
	readonly #chains: Uint32Array;
	/** From 32 bits to a chain. */
	readonly #chainScale: number;
	/** What is unpacked. */
	readonly #heap: HeapEntries;
	readonly #homes: EntryHome[] = [];
	/** From here to the hand the block is free. */
	#free = START;
	/** The next entry that the last pass left. */
	#hand = START;
	/** Where what the last pass left ends. */
	#end = START;
	/** Whether the hand went through the block once. */
	#wasFull = false;
	/** Words of all entries that were not removed. */
	#used = 0;
	/** 32 bits. */
	#drawn = 0;

	constructor(bytes: number, heap: HeapEntries) {
		this.#heap = heap;
		const words = Math.max(START, Math.floor(bytes / 4));
		this.#words = new Uint32Array(words);
		this.#bytes = Buffer.from(this.#words.buffer);
		this.#chains = new Uint32Array(Math.ceil(bytes / USUAL_BYTES));
		this.#chainScale = this.#chains.length / 2 ** 32;
	}

	/** Whether a new entry mostly takes the place of others. */
	get isFull(): boolean {
		return this.#wasFull && this.#used > this.#words.length * FULL;
	}

	/** Where the entry of this key is; 0 if it is not here. */
	find({ number }: EntryHome, key: CacheKey): number {
		if (!key.isId) return 0;
		const words = this.#words;
		const high = key.words[0];
		const low = key.words[1];
		let at = this.#chains[this.#chainOf(key.hash)] as number;
		while (at !== 0) {
			if (
				words[at + LOW] === low &&
				words[at + HIGH] === high &&
				number === this.#numberAt(at)
			) {
				return at;
			}
			at = words[at + NEXT] as number;
		}
		return 0;
	}

	/** When it is too old, on the cache's clock. */
	endAt(at: number): number {
		const end = this.#words[at + END] as number;
		return end === NEVER ? Number.POSITIVE_INFINITY : end * END_MS;
	}

	/** The same entry in the heap, if it is there. */
	unpacked(at: number): CacheEntry | undefined {
		const words = this.#words;
		if (((words[at + ABOUT] as number) & IN_HEAP) === 0) return undefined;
		return this.#heap.at(words[at + PROOF] as number);
	}

	/** What `SlotVersions.packedSumOf` was when it was last known to be good. It is not in the heap. */
	proofAt(at: number): number {
		return this.#words[at + PROOF] as number;
	}

	/** What `unpack` makes of what `CacheEntry.pack` wrote. */
	unpackedAt<V>(at: number, key: string, unpack: Unpack<V>): V | null {
		const about = this.#words[at + ABOUT] as number;
		const end = (at + sizeOf(about)) * 4 - ((about >>> SIZE_BITS) & 3);
		return unpack(key, this.#bytes, (at + HEADER) * 4, end);
	}

	/** Returns whether this read gets it a place in the heap. */
	noteRead(at: number): boolean {
		const words = this.#words;
		words[at + ABOUT] = (words[at + ABOUT] as number) | WAS_USED;
		// A linear congruential generator ("Numerical Recipes"): entries that are read in turns have the same chance.
		this.#drawn = (Math.imul(this.#drawn, 1_664_525) + 1_013_904_223) >>> 0;
		return this.#drawn < 2 ** 32 / READS;
	}

	/** The heap has it from now on too, at that place. */
	noteUnpacked(at: number, inHeap: number): void {
		const words = this.#words;
		words[at + ABOUT] = (words[at + ABOUT] as number) | IN_HEAP;
		words[at + PROOF] = inHeap;
	}

	/** It left the heap. */
	noteLeft(at: number, proof: number): void {
		const words = this.#words;
		const about = words[at + ABOUT] as number;
		words[at + ABOUT] = (about & ~IN_HEAP) | WAS_USED;
		words[at + PROOF] = proof;
	}

	/** A new entry. False if it does not fit here, or cannot be packed. */
	put(
		home: EntryHome,
		key: CacheKey,
		entry: CacheEntry,
		proof: number,
	): boolean {
		if (!key.isId) return false;
		const words = this.#words;
		const isEndless = entry.end === Number.POSITIVE_INFINITY;
		const end = isEndless ? NEVER : Math.floor(entry.end / END_MS);
		if (!isEndless && end >= NEVER) return false;
		const bytes = entry.pack(SCRATCH);
		if (bytes < 0) return false;
		const size = HEADER + Math.ceil(bytes / 4);
		if (size * MIN_ENTRIES > words.length) return false;
		if (home.number === 0) {
			if (this.#homes.length === MAX_HOMES) return false;
			home.number = this.#homes.push(home);
		}
		const at = this.#makeRoom(size);
		SCRATCH.copy(this.#bytes, (at + HEADER) * 4, 0, bytes);
		const chain = this.#chainOf(key.hash);
		words[at + NEXT] = this.#chains[chain] as number;
		words[at + END] = end;
		words[at + PROOF] = proof;
		words[at + ABOUT] =
			(home.number << NUMBER_AT) | ((-bytes & 3) << SIZE_BITS) | size;
		words[at + HIGH] = key.words[0] as number;
		words[at + LOW] = key.words[1] as number;
		this.#chains[chain] = at;
		this.#free = at + size;
		this.#used += size;
		home.counts.packed++;
		home.counts.packedBytes += size * 4;
		return true;
	}

	/** It is not found any more, and not in the heap. Its bytes stay until the hand comes by. */
	remove(at: number): void {
		const words = this.#words;
		const about = words[at + ABOUT] as number;
		this.#link(at, words[at + NEXT] as number);
		const { counts } = this.#homeAt(at);
		const size = sizeOf(about);
		counts.packed--;
		counts.packedBytes -= size * 4;
		this.#used -= size;
		words[at + ABOUT] = size;
	}

	/** None is in the heap. */
	clear(): void {
		for (const { counts } of this.#homes) {
			counts.packed = 0;
			counts.packedBytes = 0;
			counts.changes++;
		}
		this.#chains.fill(0);
		this.#free = START;
		this.#hand = START;
		this.#end = START;
		this.#wasFull = false;
		this.#used = 0;
	}

	/** Where that many words are free. */
	#makeRoom(size: number): number {
		const words = this.#words;
		let passes = MAX_PASSES;
		for (;;) {
			if (this.#hand >= this.#end) {
				if (this.#free + size <= words.length) return this.#free;
				this.#end = this.#free;
				this.#free = START;
				this.#hand = START;
				this.#wasFull = true;
			}
			if (this.#free + size <= this.#hand) return this.#free;
			const at = this.#hand;
			this.#hand = this.#next(at);
			const about = words[at + ABOUT] as number;
			if (about >>> NUMBER_AT === 0) continue;
			const inHeap = this.unpacked(at);
			const isUsed = inHeap !== undefined || (about & WAS_USED) !== 0;
			if (isUsed && passes-- > 0) {
				words[at + ABOUT] = about & ~WAS_USED;
				if (inHeap !== undefined) inHeap.place = this.#free;
				this.#moveDown(at);
				continue;
			}
			if (inHeap !== undefined) this.#heap.remove(inHeap);
			const { counts } = this.#homeAt(at);
			counts.evictions++;
			counts.changes++;
			this.remove(at);
		}
	}

	#moveDown(at: number): void {
		const to = this.#free;
		const next = this.#next(at);
		this.#link(at, to);
		this.#words.copyWithin(to, at, next);
		this.#free = to + next - at;
	}

	/** Lets what leads to one entry lead to another one, or to the end of the chain. */
	#link(at: number, to: number): void {
		const words = this.#words;
		const { hash } = this.#homeAt(at);
		const high = words[at + HIGH] as number;
		const low = words[at + LOW] as number;
		const chain = this.#chainOf(hashOf(hash, high, low));
		let from = this.#chains[chain] as number;
		if (from === at) {
			this.#chains[chain] = to;
			return;
		}
		while (words[from + NEXT] !== at) from = words[from + NEXT] as number;
		words[from + NEXT] = to;
	}

	#chainOf(hash: number): number {
		return Math.floor((hash >>> 0) * this.#chainScale);
	}

	#next(at: number): number {
		return at + sizeOf(this.#words[at + ABOUT] as number);
	}

	#numberAt(at: number): number {
		return (this.#words[at + ABOUT] as number) >>> NUMBER_AT;
	}

	#homeAt(at: number): EntryHome {
		return this.#homes[this.#numberAt(at) - 1] as EntryHome;
	}
}

/** Makes a value of the bytes from `start` to `end`; null if that fails. */
export type Unpack<V> = (
	key: string,
	from: Buffer,
	start: number,
	end: number,
) => V | null;

/** Words of an entry. */
function sizeOf(about: number): number {
	return about & MAX_SIZE;
}

/** No entry is at 0, which ends chains. */
const START = 1;
/** Words of an entry. What was packed follows. */
const NEXT = 0;
/** In units of `END_MS`. */
const END = 1;
/** If the entry is in the heap too, its place there. */
const PROOF = 2;
/** The number of its home (0 once it was removed), flags, bytes of its last word that it has not, and its words. */
const ABOUT = 3;
/** Its key. */
const HIGH = 4;
const LOW = 5;
const HEADER = 6;

const SIZE_BITS = 17;
const MAX_SIZE = 2 ** SIZE_BITS - 1;
const FLAGS_AT = SIZE_BITS + 2;
const IN_HEAP = 1 << FLAGS_AT;
/** Since the hand came by. */
const WAS_USED = 2 << FLAGS_AT;
const NUMBER_AT = FLAGS_AT + 2;
const MAX_HOMES = 2 ** (32 - NUMBER_AT) - 1;

/** Entries end at multiples of this: so an end has one word in the first year of a process, after which it packs none. */
export const END_MS = 8;
const NEVER = 0xffffffff;
/** One read of so many gets its entry a place in the heap. */
const READS = 16;
/** It counts as full if more than this share is used. What was removed leaves room that the hand finds later. */
const FULL = 0.9;

/** What is longer is rare. */
const SCRATCH = Buffer.alloc(128 * 1_024);
/** One entry takes the place of some. */
const MIN_ENTRIES = 8;
/** Entries that are passed over for one that is put here; so it takes microseconds even if all were used. */
const MAX_PASSES = 64;
/** What an entry takes, approximately. */
const USUAL_BYTES = 160;
