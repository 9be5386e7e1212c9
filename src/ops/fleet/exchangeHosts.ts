import { CorkboardError } from "../../errors.ts";
import { parseHostUrl } from "../../topology/hostUrl.ts";
import type { HostRange, Topology } from "../../topology/types.ts";

/** A primary that may be replaced, as the topology names it. */
export interface PromotionHosts {
	/** Names, `host:port`. */
	readonly from: string;
	readonly to: string;
	readonly fromUrl: string;
	readonly toUrl: string;
	/** Databases of which the host has the primary: `db00000`. */
	readonly shards: readonly number[];
	readonly modShards: readonly number[];
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
	const own = ranges.filter(({ primary }) => nameOf(primary) === from);
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
	const numbers = (some: readonly HostRange[]) =>
		some
			.filter(({ primary }) => nameOf(primary) === from)
			.flatMap(({ range: [first, last] }) =>
				Array.from({ length: last - first + 1 }, (_, at) => first + at),
			);
	return {
		from,
		to: replica[0],
		fromUrl: names.get(from) as string,
		toUrl: replica[1],
		shards: numbers(topology.shards),
		modShards: numbers(topology.lookups),
	};
}

/**
 * The map in which the two hosts have changed places, with the generations of
 * the shards raised. `keepsReplica` false: the old primary is left out.
 */
export function exchangeHosts(
	{ version: _, ...map }: Topology,
	from: string,
	keepsReplica: boolean,
): Omit<Topology, "version"> {
	const exchanged = <Range extends HostRange>(range: Range): Range => {
		const { primary, replica, ...rest } = range;
		if (nameOf(primary) !== from || replica === undefined) return range;
		return {
			...rest,
			primary: replica,
			...(keepsReplica && { replica: primary }),
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
	};
}

function allRanges(topology: Topology): readonly HostRange[] {
	const { shards, lookups, queues = [], feeds = [] } = topology;
	return [...shards, ...lookups, ...queues, ...feeds];
}

function nameOf(url: string): string {
	const parsed = parseHostUrl(url);
	return parsed?.scheme === "mysql" ? parsed.name : url;
}
