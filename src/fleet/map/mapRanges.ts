import { parseHostUrl } from "../../topology/hostUrl.ts";
import type { FeedRange, HostRange, Topology } from "../../topology/types.ts";

/** The lists of ranges that a map has. */
export type List = "shards" | "lookups" | "queues" | "feeds" | "pools";

/** The map with what `change` makes of each range, which may be several in its place. */
export function mapRanges(
	{ version: _, ...map }: Topology,
	change: <Range extends HostRange>(
		range: Range,
		list: List,
	) => Range | readonly Range[],
): Omit<Topology, "version"> {
	const changed = <Range extends HostRange>(
		list: List,
		ranges: readonly Range[],
	) => ranges.flatMap((range) => change(range, list));
	const { shards, lookups, queues, feeds, pools } = map;
	return {
		...map,
		shards: changed("shards", shards),
		lookups: changed("lookups", lookups),
		...(queues && { queues: changed("queues", queues) }),
		...(feeds && { feeds: changed("feeds", feeds) }),
		...(pools && { pools: changed("pools", pools) }),
	};
}

/** The range with the next generation, so that nothing cached before is read again; in lists that have none, as it is. */
export function raised<Range extends HostRange>(
	range: Range,
	list: List,
): Range {
	if (list !== "shards" && list !== "feeds") return range;
	const { generation = 0 }: Partial<FeedRange> = range;
	return { ...range, generation: generation + 1 };
}

export function allRanges(topology: Topology): readonly HostRange[] {
	const { shards, lookups, queues = [], feeds = [], pools = [] } = topology;
	return [...shards, ...lookups, ...queues, ...feeds, ...pools];
}

/** `host:port`; of a folder its URL. */
export function nameOf(url: string): string {
	const parsed = parseHostUrl(url);
	return parsed?.scheme === "mysql" ? parsed.name : url;
}

/** The names that are `given`, which may leave out the port. */
export function namedSo(
	names: Iterable<string>,
	given: string,
): readonly string[] {
	return [...names].filter(
		(name) => name === given || name.replace(/:\d+$/, "") === given,
	);
}
