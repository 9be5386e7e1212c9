import { CorkboardError } from "../../errors.ts";
import { parseHostUrl } from "../../topology/hostUrl.ts";
import type { HostRange, Topology } from "../../topology/types.ts";
import { type DatabaseKind, databaseName } from "./databases.ts";

/** A primary that may be replaced, as the topology names it. */
export interface PromotionHosts {
	/** Names, `host:port`. */
	readonly from: string;
	readonly to: string;
	readonly fromUrl: string;
	readonly toUrl: string;
	/** What the host is the primary of, by number. */
	readonly shards: readonly number[];
	readonly modShards: readonly number[];
	readonly queues: readonly number[];
	readonly feeds: readonly number[];
	readonly pools: readonly number[];
}

/** The names of these databases: `db00000`. */
export function databasesOf(hosts: PromotionHosts): readonly string[] {
	const { shards, modShards, queues, feeds, pools } = hosts;
	const named = { db: shards, mod: modShards, queue: queues, feed: feeds };
	return Object.entries({ ...named, pool: pools }).flatMap(([kind, numbers]) =>
		numbers.map((number) => databaseName(kind as DatabaseKind, number)),
	);
}

/** Finds a primary by `host:port`, or by its host where that is unique. Throws BAD_TOPOLOGY where it has no single replica. */
export function findPromotion(
	topology: Topology,
	given: string,
): PromotionHosts {
	const ranges = allRanges(topology);
	const names = new Map(
		ranges.map(({ primary }) => [nameOf(primary), primary]),
	);
	const matching = [...names.keys()].filter(
		(name) => name === given || name.replace(/:\d+$/, "") === given,
	);
	const [from] = matching;
	if (from === undefined || matching.length > 1) {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			`The topology names ${matching.length === 0 ? "no primary" : "several primaries"} ${given}: its primaries are ${[...names.keys()].join(", ")}.`,
		);
	}
	// Pools need no replica (docs/shard-map.md), but whatever is on the server is on its replica too.
	const own = ranges.filter(
		(range) =>
			nameOf(range.primary) === from &&
			(range.replica !== undefined || !(topology.pools ?? []).includes(range)),
	);
	const replicas = new Map(
		own.flatMap(({ replica }) =>
			replica === undefined ? [] : [[nameOf(replica), replica] as const],
		),
	);
	const [replica] = replicas;
	const lacking = own.some((range) => range.replica === undefined);
	if (replica === undefined || replicas.size > 1 || lacking) {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			`All ranges of ${from} must name the same replica, but they name ${lacking ? "none in some" : [...replicas.keys()].join(", ")}.`,
		);
	}
	return {
		from,
		to: replica[0],
		fromUrl: names.get(from) as string,
		toUrl: replica[1],
		...numbersOf(topology, from),
	};
}

/** The two hosts after the one took the place of the other, which the map does not name any more. Null where it does not name the new one. */
export function findPromoted(
	topology: Topology,
	{ from, to }: Pick<PromotionHosts, "from" | "to">,
): PromotionHosts | null {
	const toUrl = allRanges(topology)
		.map(({ primary }) => primary)
		.find((primary) => nameOf(primary) === to);
	if (toUrl === undefined) return null;
	// Both servers of a pair know the same account.
	const fromUrl = toUrl.replace(to, from);
	return { from, to, fromUrl, toUrl, ...numbersOf(topology, to) };
}

/** What a host is the primary of. */
function numbersOf(topology: Topology, host: string) {
	const numbers = (some: readonly HostRange[] = []) =>
		some
			.filter(({ primary }) => nameOf(primary) === host)
			.flatMap(({ range: [first, last] }) =>
				Array.from({ length: last - first + 1 }, (_, at) => first + at),
			);
	return {
		shards: numbers(topology.shards),
		modShards: numbers(topology.lookups),
		queues: numbers(topology.queues),
		feeds: numbers(topology.feeds),
		pools: numbers(topology.pools),
	};
}

/**
 * The map in which the two hosts have changed places, with the generations of
 * the shards raised. Ranges without a replica, which only pools may be, go along without one.
 */
export function exchangeHosts(
	topology: Topology,
	hosts: Pick<PromotionHosts, "from" | "toUrl">,
): Omit<Topology, "version"> {
	return withPrimary(topology, hosts, true);
}

/** The map in which the one has taken the place of the other, which it does not name any more. */
export function replaceHost(
	topology: Topology,
	hosts: Pick<PromotionHosts, "from" | "toUrl">,
): Omit<Topology, "version"> {
	return withPrimary(topology, hosts, false);
}

function withPrimary(
	{ version: _, ...map }: Topology,
	{ from, toUrl }: Pick<PromotionHosts, "from" | "toUrl">,
	isExchange: boolean,
): Omit<Topology, "version"> {
	const exchanged = <Range extends HostRange>(range: Range): Range => {
		const { primary, replica, ...rest } = range;
		if (nameOf(primary) !== from) return range;
		return {
			...rest,
			primary: toUrl,
			...(isExchange && replica !== undefined && { replica: primary }),
		} as unknown as Range;
	};
	const raised = <Range extends HostRange & { readonly generation?: number }>(
		range: Range,
	): Range => {
		const next = exchanged(range);
		return next === range
			? range
			: { ...next, generation: (range.generation ?? 0) + 1 };
	};
	return {
		...map,
		shards: map.shards.map(raised),
		lookups: map.lookups.map(exchanged),
		...(map.queues && { queues: map.queues.map(exchanged) }),
		...(map.feeds && { feeds: map.feeds.map(raised) }),
		...(map.pools && { pools: map.pools.map(exchanged) }),
	};
}

/** Whether any range has its primary there. */
export function namesPrimary(topology: Topology, host: string): boolean {
	return allRanges(topology).some(({ primary }) => nameOf(primary) === host);
}

/** Whether any range names it, as a primary or as a replica. */
export function namesHost(topology: Topology, host: string): boolean {
	return allRanges(topology).some(
		({ primary, replica }) =>
			nameOf(primary) === host ||
			(replica !== undefined && nameOf(replica) === host),
	);
}

function allRanges(topology: Topology): readonly HostRange[] {
	const { shards, lookups, queues = [], feeds = [], pools = [] } = topology;
	return [...shards, ...lookups, ...queues, ...feeds, ...pools];
}

function nameOf(url: string): string {
	const parsed = parseHostUrl(url);
	return parsed?.scheme === "mysql" ? parsed.name : url;
}
