import type { CacheEntry, EntryHome } from "./cacheEntry.ts";

/**
 * Entries as bytes outside of V8's heap, so that a collection of garbage does not
 * look at them: one block of memory, and an index of it by the hash of the key. It
 * has no clock and no versions. The caller that finds an entry decides whether it is still good.
 *
 * The entries lie one behind the other. Room for a new one is made where a hand
 * stands that goes through the block from its start to its end, again and again.
 * What was used since the hand came by moves down to what is kept already; the rest
 * is evicted (the CLOCK algorithm).
 *
 * While the heap has an entry too, it stays here: mostly it comes back unchanged, and
 * nothing is written then.
 */
export class PackedEntries {
	readonly #words: Uint32Array;
	readonly #bytes: Buffer;
	/** The first entry of each chain, by the last bits of the hash. */
	readonly #chains: Uint32Array;
	readonly #homes: EntryHome[] = [];
	/** From here to the hand the block is free. */
	#free = START;
	/** The next entry that the last pass left. */
	#hand = START;
	/** Where what the last pass left ends. */
	#end = START;
	/** Whether the hand went through the block once. */
	#isFull = false;

	constructor(bytes: number) {
		const words = Math.max(START, Math.floor(bytes / 4));
		this.#words = new Uint32Array(words);
		this.#bytes = Buffer.from(this.#words.buffer);
		const chains = 2 ** Math.ceil(Math.log2(bytes / USUAL_BYTES + 1));
		this.#chains = new Uint32Array(chains);
	}

	/** Whether a new entry takes the place of others. */
	get isFull(): boolean {
		return this.#isFull;
	}

	/** Where the entry of this key is; 0 if it is not here. `hash` is that of the home and the key. */
	find(home: EntryHome, key: string, hash: number): number {
		const words = this.#words;
		let at = this.#chains[hash & (this.#chains.length - 1)] as number;
		while (at !== 0) {
			if (words[at + HASH] === hash && this.#is(at, home, key)) return at;
			at = words[at + NEXT] as number;
		}
		return 0;
	}

	#is(at: number, { number }: EntryHome, key: string): boolean {
		const { length } = key;
		const lengths = this.#words[at + LENGTHS] as number;
		if (number !== this.#numberAt(at) || length !== lengths >>> TEXT_BITS) {
			return false;
		}
		const bytes = this.#bytes;
		const start = (at + HEADER) * 4;
		// The last digits of ids differ most.
		for (let index = length - 1; index >= 0; index--) {
			if (bytes[start + index] !== key.charCodeAt(index)) return false;
		}
		return true;
	}

	/** When it is too old, on the cache's clock: a second early at most. */
	endAt(at: number): number {
		const seconds = this.#words[at + END] as number;
		return seconds === NEVER ? Number.POSITIVE_INFINITY : seconds * 1_000;
	}

	/** What `SlotVersions.packedSumOf` was when it was last known to be good. */
	proofAt(at: number): number {
		return this.#words[at + PROOF] as number;
	}

	textAt(at: number): string {
		const lengths = this.#words[at + LENGTHS] as number;
		const start = (at + HEADER) * 4 + (lengths >>> TEXT_BITS);
		return this.#bytes.toString("utf8", start, start + (lengths & MAX_TEXT));
	}

	/** The heap has it from now on too, until it is put here again or removed. */
	noteUnpacked(at: number): void {
		const home = this.#homeAt(at);
		const words = this.#words;
		if (((words[at + OWNER] as number) & IN_HEAP) === 0) home.counts.packed--;
		words[at + OWNER] = (words[at + OWNER] as number) | IN_HEAP;
	}

	/** The entry leaves the heap. False if it does not fit here, or cannot be packed. */
	put(
		home: EntryHome,
		entry: CacheEntry,
		hash: number,
		proof: number,
	): boolean {
		const { key, end } = entry;
		const words = this.#words;
		const former = this.find(home, key, hash);
		if (former !== 0) {
			// It came from there, and nothing says that it changed.
			if (words[former + PROOF] === proof) {
				const owner = words[former + OWNER] as number;
				if ((owner & IN_HEAP) !== 0) home.counts.packed++;
				words[former + OWNER] = (owner & ~IN_HEAP) | WAS_USED;
				return true;
			}
			this.remove(former);
		}
		const text = entry.packed();
		if (text === null || key.length > MAX_KEY) return false;
		// Half of a pair of surrogates would be lost.
		if (text.length * 3 > SCRATCH.length || !text.isWellFormed()) return false;
		const textBytes = SCRATCH.write(text, 0, "utf8");
		const size = sizeOf((key.length << TEXT_BITS) | textBytes);
		if (size * MIN_ENTRIES > words.length) return false;
		if (home.number === 0) home.number = this.#homes.push(home);
		const at = this.#makeRoom(size);
		const start = (at + HEADER) * 4;
		for (let index = 0; index < key.length; index++) {
			const unit = key.charCodeAt(index);
			if (unit > 0xff) return false;
			this.#bytes[start + index] = unit;
		}
		SCRATCH.copy(this.#bytes, start + key.length, 0, textBytes);
		const chain = hash & (this.#chains.length - 1);
		words[at + NEXT] = this.#chains[chain] as number;
		words[at + HASH] = hash;
		words[at + END] = Math.min(Math.floor(end / 1_000), NEVER);
		words[at + PROOF] = proof;
		words[at + OWNER] = home.number << FLAG_BITS;
		words[at + LENGTHS] = (key.length << TEXT_BITS) | textBytes;
		this.#chains[chain] = at;
		this.#free = at + size;
		home.counts.packed++;
		home.counts.packedBytes += size * 4;
		return true;
	}

	/** It is not found any more. Its bytes stay until the hand comes by. */
	remove(at: number): void {
		const words = this.#words;
		this.#link(at, words[at + NEXT] as number);
		const { counts } = this.#homeAt(at);
		if (((words[at + OWNER] as number) & IN_HEAP) === 0) counts.packed--;
		counts.packedBytes -= sizeOf(words[at + LENGTHS] as number) * 4;
		words[at + OWNER] = 0;
	}

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
		this.#isFull = false;
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
				this.#isFull = true;
			}
			if (this.#free + size <= this.#hand) return this.#free;
			const at = this.#hand;
			this.#hand = this.#next(at);
			const owner = words[at + OWNER] as number;
			if (owner === 0) continue;
			if ((owner & IN_HEAP) === 0) {
				if ((owner & WAS_USED) !== 0 && passes-- > 0) {
					words[at + OWNER] = owner & ~WAS_USED;
					this.#moveDown(at);
					continue;
				}
				this.#homeAt(at).counts.evictions++;
			}
			// The heap puts it here again when it has no room either.
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
		const chain = (words[at + HASH] as number) & (this.#chains.length - 1);
		let from = this.#chains[chain] as number;
		if (from === at) {
			this.#chains[chain] = to;
			return;
		}
		while (words[from + NEXT] !== at) from = words[from + NEXT] as number;
		words[from + NEXT] = to;
	}

	#next(at: number): number {
		return at + sizeOf(this.#words[at + LENGTHS] as number);
	}

	#numberAt(at: number): number {
		return (this.#words[at + OWNER] as number) >>> FLAG_BITS;
	}

	#homeAt(at: number): EntryHome {
		return this.#homes[this.#numberAt(at) - 1] as EntryHome;
	}
}

/** Words of an entry with that key and text. */
function sizeOf(lengths: number): number {
	return (
		HEADER + Math.ceil(((lengths >>> TEXT_BITS) + (lengths & MAX_TEXT)) / 4)
	);
}

/** No entry is at 0, which ends chains. */
const START = 1;
/** Words of an entry. Key and text follow. */
const NEXT = 0;
const HASH = 1;
/** Seconds. */
const END = 2;
const PROOF = 3;
/** The number of its home, and flags; 0 once it was removed. */
const OWNER = 4;
/** Bytes of its key, and of its text. */
const LENGTHS = 5;
const HEADER = 6;

const FLAG_BITS = 2;
const IN_HEAP = 1;
/** Since the hand came by. */
const WAS_USED = 2;

const TEXT_BITS = 24;
const MAX_TEXT = 2 ** TEXT_BITS - 1;
const MAX_KEY = 255;
const NEVER = 0xffffffff;
/** Longer texts are few: three bytes for each character of a head with all of its edges. */
const SCRATCH = Buffer.alloc(128 * 1_024);
/** One entry takes the place of some. */
const MIN_ENTRIES = 8;
/** Entries that are passed over for one that is put here; so it takes microseconds even if all were used. */
const MAX_PASSES = 64;
/** What an entry takes, approximately. */
const USUAL_BYTES = 256;
