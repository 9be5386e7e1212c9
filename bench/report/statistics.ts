import type { Cell } from "../cell.ts";
import { EXISTING_PEERS, type VariantName } from "../variants.ts";

/** The median of some measurements, with the least and the most. */
export interface Spread {
	readonly median: number;
	readonly least: number;
	readonly most: number;
	readonly count: number;
}

export function spreadOf(values: readonly number[]): Spread | null {
	if (values.length === 0) return null;
	const sorted = values.toSorted((a, b) => a - b);
	const middle = sorted.length >> 1;
	const upper = sorted[middle] as number;
	const median =
		sorted.length % 2 === 1
			? upper
			: (upper + (sorted[middle - 1] as number)) / 2;
	return {
		median,
		least: sorted[0] as number,
		most: sorted.at(-1) as number,
		count: sorted.length,
	};
}

/** The least value that a share of all does not exceed; 0 of none. */
export function percentilesOf(values: Iterable<number>): {
	at(share: number): number;
} {
	const sorted = Float64Array.from(values).sort();
	return {
		at: (share) =>
			sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ??
			0,
	};
}

/** Cells that may be compared: of one section, question and number of connections. */
export function cellsOf(
	cells: readonly Cell[],
	section: string,
	question: string,
): readonly Cell[] {
	return cells.filter(
		(cell) => cell.section === section && cell.question === question,
	);
}

/** For each round, the least of the peers over this variant's own. */
export function overBestPeer(
	cells: readonly Cell[],
	variant: VariantName,
	what: "cpuMs" | "p99" = "cpuMs",
): Spread | null {
	return ratios(cells, variant, EXISTING_PEERS, what);
}

/** For each round, another variant's over this variant's own. */
export function over(
	cells: readonly Cell[],
	variant: VariantName,
	other: VariantName,
	what: "cpuMs" | "p99" = "cpuMs",
): Spread | null {
	return ratios(cells, variant, [other], what);
}

function ratios(
	cells: readonly Cell[],
	variant: VariantName,
	others: readonly VariantName[],
	what: "cpuMs" | "p99",
): Spread | null {
	const own = cells.filter((cell) => cell.variant === variant);
	return spreadOf(
		own.flatMap((cell) => {
			const theirs = cells.filter(
				({ round, variant: name }) =>
					round === cell.round && others.includes(name),
			);
			return theirs.length === 0
				? []
				: [Math.min(...theirs.map((other) => other[what])) / cell[what]];
		}),
	);
}

/**
 * The median with an interval that holds the true one with a probability of at
 * least 95 %, by the order of the values alone: of each value, chance decides
 * whether it is below the median.
 */
export function medianInterval(values: readonly number[]): {
	readonly median: number;
	readonly low: number;
	readonly high: number;
} {
	const sorted = values.toSorted((a, b) => a - b);
	const count = sorted.length;
	let chance = 0.5 ** count;
	let below = chance;
	let rank = 0;
	while (below <= 0.025 && rank < count >> 1) {
		rank++;
		chance *= (count - rank + 1) / rank;
		below += chance;
	}
	const at = Math.max(0, rank - 1);
	return {
		median: spreadOf(sorted)?.median ?? Number.NaN,
		low: sorted[at] ?? Number.NaN,
		high: sorted[count - 1 - at] ?? Number.NaN,
	};
}
