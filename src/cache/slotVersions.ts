import { fnv1a } from "../util/fnv1a.ts";

/** A table of versions for that many caches. The first one rises with each of the others. */
export function versionsFor(caches: number): Uint32Array {
	return new Uint32Array(1 + caches * SLOTS);
}

export const CHANGES_SLOT = 0;

/** Two keys in one slot cost an occasional refill, never a wrong value. A whole answer depends on a hundred slots. */
const SLOTS = 1 << 18;

/** The versions of one cache, which has a part of the table: one for each slot of key hashes. */
export class SlotVersions {
	/** The cache's first slot. */
	readonly first: number;
	readonly #table: Uint32Array;

	constructor(table = versionsFor(1), number = 0) {
		this.#table = table;
		this.first = 1 + number * SLOTS;
	}

	at(slot: number): number {
		return this.#table[slot] as number;
	}

	/** `hash` is that of the name of the partition. */
	slotOf({ hash }: { readonly hash: number }, key: string): number {
		return this.first + (fnv1a(key, hash) % SLOTS);
	}

	raise(slot: number): void {
		this.#add(slot);
		this.#add(CHANGES_SLOT);
	}

	raiseAll(): void {
		const end = this.first + SLOTS;
		for (let slot = this.first; slot < end; slot++) this.#add(slot);
		this.#add(CHANGES_SLOT);
	}

	#add(slot: number): void {
		this.#table[slot] = (this.at(slot) + 1) >>> 0;
	}
}
