import { fnv1a } from "./fnv1a.ts";

/**
 * Which texts came before, in four bytes for each of so many: a later text takes the
 * place of an earlier one, which then is as if it had not come. Texts of one hash are
 * one here.
 */
export class SeenTexts {
	readonly #hashes: Uint32Array;

	constructor(slots = 65_536) {
		this.#hashes = new Uint32Array(slots);
	}

	has(text: string): boolean {
		const hash = fnv1a(text);
		return this.#hashes[hash % this.#hashes.length] === hash;
	}

	/** Returns whether it came before. */
	add(text: string): boolean {
		const hash = fnv1a(text);
		const slot = hash % this.#hashes.length;
		const isKnown = this.#hashes[slot] === hash;
		this.#hashes[slot] = hash;
		return isKnown;
	}

	delete(text: string): void {
		if (!this.has(text)) return;
		this.#hashes[fnv1a(text) % this.#hashes.length] = 0;
	}
}
