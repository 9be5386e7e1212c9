import { splitId } from "../id/idWords.ts";
import { fnv1a } from "../util/fnv1a.ts";

/**
 * A key as a cache looks for it. Most are ids of up to 19 digits, which are read
 * once for all that a look needs of them: the place of a packed entry, the slot
 * of its versions, and its channel.
 */
export class CacheKey {
	isId = false;
	/** The upper and the lower 32 bits of an id; 0 of another key. */
	readonly words = new Uint32Array(2);
	/** The same as long as the process lives. 32 bits, with a sign. */
	hash = 0;

	/** `seed` is the hash of the name of its partition. */
	read(seed: number, key: string): void {
		const { words } = this;
		this.isId = splitId(key, words);
		if (this.isId) {
			this.hash = hashOf(seed, words[0] as number, words[1] as number);
		} else {
			words.fill(0);
			this.hash = fnv1a(key, seed) | 0;
		}
	}
}

/** That of an id with these words. */
export function hashOf(seed: number, upper: number, lower: number): number {
	let hash = Math.imul(upper ^ seed, 0x9e3779b1) ^ lower;
	hash = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b);
	hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
	return hash ^ (hash >>> 16);
}
