import type { CacheEntry } from "../cache/cacheEntry.ts";
import type { Moment } from "../cache/localCache.ts";
import {
	CHANGES_SLOT,
	CHANNEL_SLOTS,
	sumOfVersions,
} from "../cache/slotVersions.ts";
import type { KeyResult } from "../storage/rows.ts";
import { andThen, isPromise, type MaybePromise } from "../util/maybePromise.ts";

/** What the caches in the process know about the entries in them. */
export interface ReadCaches {
	/** The versions of all entries (`SlotVersions`). */
	readonly versions: Uint32Array;
	moment(): Moment;
	/** Until when an answer may be used again whose first object or head is too old then. */
	endOfAnswer(firstEnd: number): number;
}

/** How many sets there were: an entry notes the number of the set that it is in. */
let sets = 0;

/**
 * The cached values that one answer was read from. While the answer is made, each
 * is added; `seal` ends that. From then on `isValid` says whether a request would
 * now read the same: nothing in the set was invalidated or is bypassed, and the
 * answer is not too old.
 *
 * The set keeps slots of the table of versions, and the sum of their versions when
 * they were read. Versions only rise, so the sum is the same if all of them are. If
 * one was read at two versions, the sum is never right again.
 */
export class ReadSet {
	readonly #caches: ReadCaches;
	readonly #number = ++sets;
	#slots: number[] = [];
	#sum = 0;
	/** A bit for each channel whose slot is in the set. */
	#channels = 0;
	/** When the first object or head is too old. */
	#firstEnd = Number.POSITIVE_INFINITY;
	/** When the first value is too old that only its age bounds. */
	#firstAgedEnd = Number.POSITIVE_INFINITY;
	#isWhole = true;
	/** Reads that have not ended, or failed. */
	#waits = 0;
	#sealed = NO_SLOTS;
	/** When the answer is too old, on the clock of the caches. */
	#end = 0;
	/** How many changes the table had seen when the sum was last found to be right; -1 before. */
	#currentAt = -1;

	constructor(caches: ReadCaches) {
		this.#caches = caches;
	}

	/** An object or a head: invalidations name it. */
	add(entry: CacheEntry): void {
		this.#firstEnd = Math.min(this.#firstEnd, entry.end);
		this.#addVersions(entry);
	}

	/** A lookup: its age bounds it, whatever invalidates it. */
	addLookup(entry: CacheEntry): void {
		this.limitEnd(entry.end);
		this.#addVersions(entry);
	}

	/**
	 * Adds what a read returns, now or later. What was waited for counts if its cache
	 * knows that it was current, and nothing has changed since.
	 */
	addRead<Entry extends CacheEntry>(
		entries: MaybePromise<readonly KeyResult<Entry>[]>,
		kind: "invalidated" | "lookup" = "invalidated",
	): MaybePromise<readonly KeyResult<Entry>[]> {
		const wereMissing = isPromise(entries);
		if (wereMissing) this.#waits++;
		return andThen(entries, (entries) => {
			if (wereMissing) this.#waits--;
			for (const entry of entries) {
				if (entry instanceof Error || (wereMissing && !this.#isProven(entry))) {
					this.#isWhole = false;
				} else if (kind === "lookup") this.addLookup(entry);
				else this.add(entry);
			}
			return entries;
		});
	}

	/** Notes that something was read which nothing invalidates: the set is never valid. */
	addUnknown(): void {
		this.#isWhole = false;
	}

	/** The answer is too old then, whatever the caches say. */
	limitEnd(end: number): void {
		this.#firstAgedEnd = Math.min(this.#firstAgedEnd, end);
	}

	/** Takes over how long the values of another set can be known, but not the values: for those that this answer does not depend on. */
	limitBy(other: ReadSet): void {
		this.#firstEnd = Math.min(this.#firstEnd, other.#firstEnd);
		this.limitEnd(other.#firstAgedEnd);
		this.#isWhole &&= other.#isWhole;
		this.#waits += other.#waits;
	}

	/** Adds what was added to another set. */
	addAll(other: ReadSet): void {
		this.limitBy(other);
		for (const slot of other.#slots) this.#slots.push(slot);
		this.#sum += other.#sum;
	}

	/** Whether all that was added can be invalidated, and could be while it was read. Nothing is added any more. */
	seal(): boolean {
		if (!this.#isWhole || this.#waits > 0) return false;
		this.#sealed = Uint32Array.from(this.#slots);
		this.#slots = [];
		this.#end = Math.min(
			this.#caches.endOfAnswer(this.#firstEnd),
			this.#firstAgedEnd,
		);
		return true;
	}

	/** Whether everything that a sealed set read is as it was. */
	isValid(): boolean {
		return this.#caches.moment() < this.#end && this.#isCurrent();
	}

	/** The slots of a sealed set. */
	get slots(): Uint32Array {
		return this.#sealed;
	}

	/** While nothing at all changes, one look says so. */
	#isCurrent(): boolean {
		const { versions } = this.#caches;
		const changes = versions[CHANGES_SLOT] as number;
		if (this.#currentAt === changes) return true;
		const slots = this.#sealed;
		let sum = 0;
		for (let at = 0; at < slots.length; at++) {
			sum += versions[slots[at] as number] as number;
		}
		if (sum !== this.#sum) return false;
		this.#currentAt = changes;
		return true;
	}

	#isProven({ proof, slot, channel }: CacheEntry): boolean {
		return proof === sumOfVersions(this.#caches.versions, slot, channel);
	}

	#addVersions(entry: CacheEntry): void {
		// Another request may have noted it since: then it is here twice.
		if (entry.listedIn === this.#number) return;
		entry.listedIn = this.#number;
		this.#addSlot(entry.slot);
		const bit = 1 << entry.channel;
		if ((this.#channels & bit) !== 0) return;
		this.#channels |= bit;
		this.#addSlot(CHANNEL_SLOTS + entry.channel);
	}

	#addSlot(slot: number): void {
		this.#slots.push(slot);
		this.#sum += this.#caches.versions[slot] as number;
	}
}

const NO_SLOTS = new Uint32Array();
