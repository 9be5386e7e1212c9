/** Pseudo-random draws: the same seed gives the same draws. */
export interface Random {
	/** From 0 (included) to 1 (excluded). */
	fraction(): number;
	/** From `least` to `most`, both included. */
	integer(least: number, most: number): number;
	chance(probability: number): boolean;
	pick<T>(from: readonly T[]): T;
	/** As `pick`, but the first items are drawn most often: the item at n has the weight 1 / (n + flatness). */
	pickPopular<T>(from: readonly T[], flatness: number): T;
	shuffled<T>(items: readonly T[]): readonly T[];
}

/** Mulberry32: 32 bits of state, enough for a demo. */
export function seededRandom(seed: number): Random {
	let state = seed >>> 0;
	const fraction = () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let bits = state;
		bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
		bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
		return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
	};
	const integer = (least: number, most: number) =>
		least + Math.floor(fraction() * (most - least + 1));
	const pick = <T>(from: readonly T[]): T =>
		at(from, integer(0, from.length - 1));
	return {
		fraction,
		integer,
		pick,
		chance: (probability) => fraction() < probability,
		// The inverse of the weights' integral: (n + flatness) grows as a power.
		pickPopular: (from, flatness) => {
			const grown = flatness * (from.length / flatness + 1) ** fraction();
			return at(from, Math.min(from.length - 1, Math.floor(grown - flatness)));
		},
		shuffled: (items) => {
			const result = [...items];
			for (let last = result.length - 1; last > 0; last--) {
				const other = integer(0, last);
				const kept = at(result, last);
				result[last] = at(result, other);
				result[other] = kept;
			}
			return result;
		},
	};
}

function at<T>(items: readonly T[], index: number): T {
	if (index < 0 || index >= items.length) {
		throw new RangeError(
			`The index must be below ${items.length}, got ${index}.`,
		);
	}
	return items[index] as T;
}
