import { CorkboardError } from "../errors.ts";
import type { ShardRange, Topology } from "../topology/types.ts";

/** First and last shard. */
export type Shards = readonly [number, number];

/** Sets what the shards of a range say of placement, splitting ranges at its ends. Throws NOT_FOUND where a shard is in no range. */
export function placeShards(
	topology: Topology,
	[first, last]: Shards,
	change: { readonly open?: boolean; readonly weight?: number },
): Topology {
	let covered = 0;
	const shards = topology.shards.flatMap((range): ShardRange[] => {
		const [low, high] = range.range;
		const from = Math.max(low, first);
		const to = Math.min(high, last);
		if (from > to) return [range];
		covered += to - from + 1;
		return [
			...(low < from ? [{ ...range, range: [low, from - 1] as const }] : []),
			{ ...range, ...change, range: [from, to] as const },
			...(to < high ? [{ ...range, range: [to + 1, high] as const }] : []),
		];
	});
	if (covered < last - first + 1) {
		throw new CorkboardError(
			"NOT_FOUND",
			`The topology has ${covered} of the ${last - first + 1} shards from ${first} to ${last}. To add shards on new hosts: topology open RANGE --primary URL.`,
		);
	}
	return { ...topology, shards };
}

/** Adds a range on new hosts, closed. Throws CONFLICT where the topology has some of its shards elsewhere. */
export function addShards(
	topology: Topology,
	range: Shards,
	hosts: { readonly primary: string; readonly replica?: string },
): Topology {
	const [first, last] = range;
	const other = topology.shards.find(
		({ range: [low, high] }) => low <= last && first <= high,
	);
	if (other !== undefined) {
		throw new CorkboardError(
			"CONFLICT",
			`The topology has shards ${other.range.join(" to ")} already.`,
		);
	}
	const added: ShardRange = { range, ...hosts, open: false };
	return { ...topology, shards: [...topology.shards, added] };
}

/** Whether a range is there with exactly these hosts, as after a first step that was interrupted. */
export function hasShards(
	topology: Topology,
	[first, last]: Shards,
	{ primary, replica }: { readonly primary: string; readonly replica?: string },
): boolean {
	return topology.shards.some(
		(each) =>
			each.range[0] <= first &&
			last <= each.range[1] &&
			each.primary === primary &&
			each.replica === replica,
	);
}
