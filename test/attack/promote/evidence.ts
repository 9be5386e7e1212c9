/** What the load driver knows to be acknowledged, and what was seen of it afterwards. */

export interface Acknowledged {
	readonly id: string;
	readonly title: string;
	/** When the answer had come. Milliseconds on the driver's monotonic clock. */
	readonly at: number;
	/** From the time at which it was due to its answer. Milliseconds. */
	readonly ms: number;
	/** Which server answered. */
	readonly by?: number;
}

export interface Evidence {
	/** Acknowledged writes that are not there, or are another's. */
	readonly lost: readonly string[];
	/** Ids that were given out more than once. */
	readonly repeated: readonly string[];
}

/** Compares the driver's own list with the titles that were read in the end, by id. */
export function judge(
	acknowledged: readonly Acknowledged[],
	found: ReadonlyMap<string, string>,
): Evidence {
	const byId = Map.groupBy(acknowledged, ({ id }) => id);
	return {
		lost: acknowledged
			.filter(({ id, title }) => found.get(id) !== title)
			.map(({ id }) => id),
		repeated: [...byId].filter(([, some]) => some.length > 1).map(([id]) => id),
	};
}

/** The longest time between two acknowledged writes, of which at least a part is from `from` to `to`. Milliseconds. */
export function longestGap(
	acknowledged: readonly Acknowledged[],
	from: number,
	to: number,
): number {
	const times = acknowledged.map(({ at }) => at).toSorted((a, b) => a - b);
	let longest = 0;
	for (const [index, at] of times.entries()) {
		const before = times[index - 1];
		if (before === undefined || at < from || before > to) continue;
		longest = Math.max(longest, at - before);
	}
	return longest;
}

/** The longest that a write took of those which were answered from `from` to `to`. Milliseconds. */
export function slowest(
	acknowledged: readonly Acknowledged[],
	from: number,
	to: number,
): number {
	return acknowledged.reduce(
		(most, { at, ms }) => (at >= from && at <= to ? Math.max(most, ms) : most),
		0,
	);
}

/** The percentile of what took a time and was answered from `from` to `to`; 0 of nothing. Milliseconds. */
export function percentile(
	all: readonly { readonly at: number; readonly ms: number }[],
	share: number,
	from: number,
	to: number,
): number {
	const taken = all
		.filter(({ at }) => at >= from && at <= to)
		.map(({ ms }) => ms)
		.toSorted((a, b) => a - b);
	return taken[Math.floor(taken.length * share)] ?? 0;
}

/** The middle of some numbers, the upper one of two; 0 of none. */
export function median(numbers: readonly number[]): number {
	const sorted = numbers.toSorted((a, b) => a - b);
	return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
