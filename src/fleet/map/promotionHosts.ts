import { CorkboardError } from "../../errors.ts";
import { shardsOf } from "../../topology/ranges.ts";
import type { HostRange, Topology } from "../../topology/types.ts";
import { type DatabaseKind, databaseName, HOST_DATABASE } from "./databases.ts";
import { allRanges, namedSo, nameOf } from "./mapRanges.ts";

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

/** The names of these databases, `db00000`, and of the one that has their outbox. */
export function promotedDatabases(hosts: PromotionHosts): readonly string[] {
	const { shards, modShards, queues, feeds, pools } = hosts;
	const named = { db: shards, mod: modShards, queue: queues, feed: feeds };
	const names = Object.entries({ ...named, pool: pools }).flatMap(
		([kind, numbers]) =>
			numbers.map((number) => databaseName(kind as DatabaseKind, number)),
	);
	return shards.length + feeds.length > 0 ? [...names, HOST_DATABASE] : names;
}

/** Finds a primary by `host:port`, or by its host if that is unique, with itself in the place of the replica. Throws BAD_TOPOLOGY. */
export function findPrimary(topology: Topology, given: string): PromotionHosts {
	const names = new Map(
		allRanges(topology).map(({ primary }) => [nameOf(primary), primary]),
	);
	const matching = namedSo(names.keys(), given);
	const [from] = matching;
	if (from === undefined || matching.length > 1) {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			`The topology names ${matching.length === 0 ? "no primary" : "several primaries"} ${given}: its primaries are ${[...names.keys()].join(", ")}.`,
		);
	}
	const url = names.get(from) as string;
	return {
		from,
		to: from,
		fromUrl: url,
		toUrl: url,
		...numbersOf(topology, from),
	};
}

/** The same with its replica. Throws BAD_TOPOLOGY if it has no single one. */
export function findPromotion(
	topology: Topology,
	given: string,
): PromotionHosts {
	const primary = findPrimary(topology, given);
	const { from } = primary;
	const replicas = replicasOf(topology, from);
	const fault = replicaFault(from, replicas);
	const [{ url: toUrl } = { url: null }] = replicas;
	if (toUrl === null || fault !== null) {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			fault ??
				`${from} has no replica: corkboard replicas add HOST --of ${from}.`,
		);
	}
	return { ...primary, to: nameOf(toUrl), toUrl };
}

/** A sentence for each primary that cannot be promoted because its ranges name several replicas, or some of them none. */
export function replicaFaults(topology: Topology): readonly string[] {
	const primaries = new Set(
		allRanges(topology).map(({ primary }) => nameOf(primary)),
	);
	return [...primaries].flatMap((primary) => {
		const fault = replicaFault(primary, replicasOf(topology, primary));
		return fault === null ? [] : [fault];
	});
}

/** A replica, or null for none, and the ranges of a primary that name it: `queues 0 to 3`. */
interface NamedReplica {
	readonly url: string | null;
	readonly ranges: readonly string[];
}

/** Pools need none (docs/how-to/shard-map.md), but whatever is on the server is on its replica too. */
function replicasOf(
	topology: Topology,
	primary: string,
): readonly NamedReplica[] {
	const { shards, lookups, queues = [], feeds = [], pools = [] } = topology;
	const lists: Readonly<Record<string, readonly HostRange[]>> = {
		shards,
		lookups,
		queues,
		feeds,
		pools: pools.filter(({ replica }) => replica !== undefined),
	};
	const found = new Map<string, NamedReplica>();
	for (const [list, all] of Object.entries(lists)) {
		for (const { primary: of, replica: url = null, range } of all) {
			if (nameOf(of) !== primary) continue;
			const name = url === null ? "" : nameOf(url);
			const { ranges = [] } = found.get(name) ?? {};
			const more = `${list} ${range.join(" to ")}`;
			found.set(name, { url, ranges: [...ranges, more] });
		}
	}
	return [...found.values()];
}

/** Null even if all of them name none. */
function replicaFault(
	primary: string,
	replicas: readonly NamedReplica[],
): string | null {
	if (replicas.length < 2) return null;
	const named = replicas.map(
		({ url, ranges }) =>
			`${ranges.join(", ")} ${ranges.length === 1 ? "names" : "name"} ${url === null ? "none" : nameOf(url)}`,
	);
	return `All ranges of ${primary} must name the same replica, because that takes the place of the whole server, but ${named.join("; ")}. Edit the map: map show --file FILE, then map publish FILE.`;
}

/** The two hosts after `to` has replaced `from`. The map names `from` as a replica of `to`, or not at all. Null if it does not name `to` as a primary. */
export function findPromoted(
	topology: Topology,
	{ from, to }: Pick<PromotionHosts, "from" | "to">,
): PromotionHosts | null {
	const ranges = allRanges(topology);
	const toUrl = ranges
		.map(({ primary }) => primary)
		.find((primary) => nameOf(primary) === to);
	if (toUrl === undefined) return null;
	const named = ranges.find(
		({ replica }) => replica !== undefined && nameOf(replica) === from,
	);
	// Both servers of a pair know the same account.
	const fromUrl = named?.replica ?? toUrl.replace(to, from);
	return { from, to, fromUrl, toUrl, ...numbersOf(topology, to) };
}

/** What a host is the primary of. */
function numbersOf(topology: Topology, host: string) {
	const numbers = (some: readonly HostRange[] = []) =>
		shardsOf(some.filter(({ primary }) => nameOf(primary) === host));
	return {
		shards: numbers(topology.shards),
		modShards: numbers(topology.lookups),
		queues: numbers(topology.queues),
		feeds: numbers(topology.feeds),
		pools: numbers(topology.pools),
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
