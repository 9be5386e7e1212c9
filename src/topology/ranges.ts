import { MAX_SHARD } from "../id/ids.ts";
import { parseHostUrl, redactHostUrl } from "./hostUrl.ts";
import type { HostRange, QueueRange, ShardRange, Topology } from "./types.ts";

/** The range of a shard; null for a shard that no range covers. */
export function rangeOf(topology: Topology, shard: number): ShardRange | null {
	return rangeIn(topology.shards, shard);
}

/** A shard's primary without its password; null for a shard that no range covers. */
export function hostOf(topology: Topology, shard: number): string | null {
	const range = rangeOf(topology, shard);
	return range === null ? null : redactHostUrl(range.primary);
}

/** The same in ranges of another kind, lowest first. */
export function hostInRanges(
	ranges: readonly HostRange[],
	shard: number,
): string | null {
	const range = rangeIn(ranges, shard);
	return range === null ? null : redactHostUrl(range.primary);
}

/** The cache generation of a shard; 0 for a shard that no range covers. */
export function generationOf(topology: Topology, shard: number): number {
	return rangeOf(topology, shard)?.generation ?? 0;
}

/** The same for the feed lists of a shard. */
export function feedGenerationOf(topology: Topology, shard: number): string {
	const range = rangeIn(topology.feeds ?? [], shard);
	const generation = generationOf(topology, shard);
	return range === null
		? `${generation}`
		: `${generation}f${range.generation ?? 0}`;
}

/** How many new users a shard gets beside a shard of weight 1. */
export function weightOf(topology: Topology, shard: number): number {
	return rangeOf(topology, shard)?.weight ?? 1;
}

/** What another version of a topology says otherwise: shards whose values in caches may not be what the shard holds now. */
export interface ChangedShards {
	/** With another primary or generation, or new. */
	readonly shards: ReadonlySet<number>;
	/** With another primary. */
	readonly modShards: ReadonlySet<number>;
}

export function changedShards(old: Topology, next: Topology): ChangedShards {
	const wasThere = (topology: Topology, shard: number) => {
		const range = rangeOf(topology, shard);
		if (range === null) return null;
		const feeds = hostInRanges(topology.feeds ?? [], shard);
		return `${feedGenerationOf(topology, shard)} ${redactHostUrl(range.primary)} ${feeds}`;
	};
	return {
		shards: new Set(
			shardsOf(next.shards).filter(
				(shard) => wasThere(old, shard) !== wasThere(next, shard),
			),
		),
		modShards: new Set(
			shardsOf(next.lookups).filter(
				(shard) =>
					hostInRanges(old.lookups, shard) !==
					hostInRanges(next.lookups, shard),
			),
		),
	};
}

/** The number of mod shards, which never changes. */
export function modShards({ lookups }: Topology): number {
	return (lookups.at(-1)?.range[1] ?? -1) + 1;
}

/** Shards on which new users may be created. */
export function openShards({ shards }: Topology): readonly number[] {
	return shardsOf(shards.filter(({ open }) => open));
}

export function shardsOf(ranges: readonly HostRange[]): readonly number[] {
	return ranges.flatMap(({ range: [first, last] }) =>
		Array.from({ length: last - first + 1 }, (_, index) => first + index),
	);
}

/** The SQLite folders of a topology. */
export function dataFoldersOf({
	shards,
	lookups,
}: Topology): ReadonlySet<string> {
	return new Set(
		[...shards, ...lookups].flatMap(({ primary }) => {
			const url = parseHostUrl(primary);
			return url?.scheme === "sqlite" ? [url.folder] : [];
		}),
	);
}

/** A folder with a topology of its own has one shard of the queue beside the graph's. */
export function queuesOf(topology: Topology): readonly QueueRange[] {
	return topology.queues ?? besideGraph(topology);
}

/** The same for the pools of home feeds. */
export function poolsOf(topology: Topology): readonly HostRange[] {
	return topology.pools ?? besideGraph(topology);
}

function besideGraph(topology: Topology): readonly HostRange[] {
	const [folder] = dataFoldersOf(topology);
	return folder === undefined
		? []
		: [{ range: [0, 0], primary: `sqlite:${folder}` }];
}

/** `0-255,512` as numbers, lowest first and each once; null if it is something else. */
export function parseShardRanges(text: string): readonly number[] | null {
	const shards = new Set<number>();
	for (const part of text.split(",")) {
		const [, low = "", high = low] =
			/^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part) ?? [];
		const [first, last] = [Number(low), Number(high)];
		if (low === "" || first > last || last > MAX_SHARD) return null;
		for (let shard = first; shard <= last; shard++) shards.add(shard);
	}
	return [...shards].sort((a, b) => a - b);
}

/** Binary search: ranges are sorted, lowest first. */
export function rangeIn<Range extends HostRange>(
	ranges: readonly Range[],
	shard: number,
): Range | null {
	let low = 0;
	let high = ranges.length;
	while (low < high) {
		const middle = (low + high) >>> 1;
		const range = ranges[middle];
		if (range === undefined) return null;
		// By index: this is done for each key of a request, and an iterator costs more than the rest.
		if (shard < range.range[0]) high = middle;
		else if (shard > range.range[1]) low = middle + 1;
		else return range;
	}
	return null;
}
