import { seededRandom } from "../src/util/random.ts";
import type { Graph } from "./graph/generate.ts";
import type { QueryName } from "./queries.ts";

/** Keys are asked for as popular pages are: the n-th most popular one 1 / n^0.9 as often as the first. */
const ZIPF = 0.9;
const DRAWS = 20_000;

export interface Pool {
	/** Numbers of rows in the relational schema, most popular first. */
	readonly ids: readonly number[];
	/** Which of them comes next. */
	readonly order: Uint32Array;
	/** Where all are asked for equally often. */
	readonly uniform: Uint32Array;
}

export type Pools = Readonly<Record<QueryName, Pool>>;

/** Objects with something to read below them. */
export function poolsOf(graph: Graph, seed: number): Pools {
	const random = seededRandom(seed);
	const pinsOf = counts(graph.pins, ({ board }) => board);
	const boardsOf = counts(graph.boards, ({ owner }) => owner);
	const followed = counts(graph.follows, ({ from }) => from);
	const ids = (
		items: readonly unknown[],
		most: number,
		isGood: (n: number) => boolean,
	) => {
		const all = items.map((_, n) => n);
		const good = all.filter(isGood);
		// A small graph may have nothing with so much below it.
		return random
			.shuffled(good.length > 0 ? good : all)
			.slice(0, most)
			.map((n) => n + 1);
	};
	const pool = (list: readonly number[]) => ({
		ids: list,
		order: drawZipf(list.length, DRAWS, seed),
		uniform: drawZipf(list.length, DRAWS, seed, 0),
	});
	return {
		q1: pool(ids(graph.pins, 20_000, () => true)),
		q2: pool(
			ids(
				graph.boards,
				5_000,
				(n) => (pinsOf.get(n) ?? 0) >= 20 && (pinsOf.get(n) ?? 0) < 5_000,
			),
		),
		q3: pool(ids(graph.users, 3_000, (n) => (boardsOf.get(n) ?? 0) >= 4)),
		q4: pool(ids(graph.users, 3_000, (n) => (followed.get(n) ?? 0) >= 10)),
	};
}

export function drawZipf(
	size: number,
	draws: number,
	seed: number,
	power = ZIPF,
): Uint32Array {
	const random = seededRandom(seed + 1);
	const sums = new Float64Array(size);
	let total = 0;
	for (let n = 0; n < size; n++) {
		total += 1 / (n + 1) ** power;
		sums[n] = total;
	}
	return Uint32Array.from({ length: draws }, () => {
		const wanted = random.fraction() * total;
		let low = 0;
		let high = size - 1;
		while (low < high) {
			const middle = (low + high) >> 1;
			if ((sums[middle] as number) < wanted) low = middle + 1;
			else high = middle;
		}
		return low;
	});
}

function counts<T>(
	items: readonly T[],
	of: (item: T) => number,
): ReadonlyMap<number, number> {
	const found = new Map<number, number>();
	for (const item of items) found.set(of(item), (found.get(of(item)) ?? 0) + 1);
	return found;
}
