import { fnv1a } from "../../util/fnv1a.ts";

/** One of each so many names: a later one takes its place. */
const SLOTS = 2 ** 15;

/**
 * Lists that had a row when this process last locked them: such a row is locked and
 * read without an INSERT. It may be wrong, after a loss or by two names that are one
 * here: then a transaction takes one round trip more.
 */
export class KnownLists {
	readonly #hashes = new Uint32Array(SLOTS);

	has(name: string): boolean {
		const hash = fnv1a(name);
		return this.#hashes[hash % SLOTS] === hash;
	}

	add(name: string): void {
		const hash = fnv1a(name);
		this.#hashes[hash % SLOTS] = hash;
	}
}
