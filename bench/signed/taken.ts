import type { Graph } from "../graph/generate.ts";

const SHIFT = 2 ** 24;

/** Likes and follows that are in a database, or were asked for: each one that is drawn is another one, so that it writes. */
export class Taken {
	readonly #likes: Set<number>;
	readonly #follows: Set<number>;

	constructor({ likes, follows }: Graph) {
		this.#likes = new Set(
			likes.map(({ user, pin }) => keyOf(user + 1, pin + 1)),
		);
		this.#follows = new Set(
			follows.map(({ from, to }) => keyOf(from + 1, to + 1)),
		);
	}

	/** False if the user likes the pin already. */
	like(user: number, pin: number): boolean {
		return take(this.#likes, keyOf(user, pin));
	}

	/** Nobody follows themselves. */
	follow(from: number, to: number): boolean {
		return from !== to && take(this.#follows, keyOf(from, to));
	}
}

function keyOf(user: number, other: number): number {
	return user * SHIFT + other;
}

function take(taken: Set<number>, key: number): boolean {
	if (taken.has(key)) return false;
	taken.add(key);
	return true;
}
