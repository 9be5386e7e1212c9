import { isDeepStrictEqual } from "node:util";
import { CorkboardError } from "../../errors.ts";
import { redactHostUrl } from "../../topology/hostUrl.ts";
import { rangeIn, rangeOf, shardsOf } from "../../topology/ranges.ts";
import type { HostRange, ShardRange, Topology } from "../../topology/types.ts";
import { type DatabaseKind, databaseName, rangesByKind } from "./databases.ts";
import { type List, mapRanges, nameOf, raised } from "./mapRanges.ts";
import type { PromotionHosts } from "./promotionHosts.ts";

/**
 * The map in which the two hosts have changed places, with the generations of
 * the shards raised. Ranges without a replica, which only pools may be, go along without one.
 */
export function exchangeHosts(
	topology: Topology,
	{ from, toUrl }: Pick<PromotionHosts, "from" | "toUrl">,
): Omit<Topology, "version"> {
	return mapRanges(topology, (range, list) => {
		const { primary, replica } = range;
		if (nameOf(primary) !== from) return range;
		const exchanged = { ...range, primary: toUrl };
		return raised(
			replica === undefined ? exchanged : { ...exchanged, replica: primary },
			list,
		);
	});
}

/** The map in which the one has taken the place of the other, which it does not name any more. */
export function replaceHost(
	topology: Topology,
	{ from, toUrl }: Pick<PromotionHosts, "from" | "toUrl">,
): Omit<Topology, "version"> {
	return mapRanges(topology, (range, list) =>
		nameOf(range.primary) === from
			? raised(withHosts(range, toUrl, null), list)
			: range,
	);
}

/** The map in which nothing that was cached of the shards of a primary is read again. */
export function raiseGenerations(
	topology: Topology,
	host: string,
): Omit<Topology, "version"> {
	return mapRanges(topology, (range, list) =>
		nameOf(range.primary) === host ? raised(range, list) : range,
	);
}

/** The map in which all ranges of the primary name this replica; null: none. */
export function withReplica(
	topology: Topology,
	primary: string,
	replicaUrl: string | null,
): Omit<Topology, "version"> {
	return mapRanges(topology, (range) =>
		nameOf(range.primary) === primary
			? withHosts(range, range.primary, replicaUrl)
			: range,
	);
}

/**
 * The map in which one range of a list is on other hosts, with the generations of
 * its shards raised. Ranges are split at its ends, and those beside each other that
 * say the same become one. Throws CONFLICT if a shard of it is not on `from`.
 */
export function moveRange(
	topology: Topology,
	{ list, range, from }: MovedRange,
	{
		primary,
		replica,
	}: { readonly primary: string; readonly replica: string | null },
): Omit<Topology, "version"> {
	let moved = 0;
	const map = mapRanges(topology, (each, its) => {
		if (its !== list) return each;
		return split(each, [{ range, primary }]).map(([part, then]) => {
			if (then === null) return part;
			if (nameOf(part.primary) !== from) {
				throw new CorkboardError(
					"CONFLICT",
					`Version ${topology.version} names ${nameOf(part.primary)} as the primary of ${list} ${part.range.join(" to ")}, and not ${from}.`,
				);
			}
			moved += part.range[1] - part.range[0] + 1;
			return raised(withHosts(part, primary, replica), list);
		});
	});
	const [first, last] = range;
	if (moved < last - first + 1) {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			`The topology has ${moved} of the ${last - first + 1} ${list} from ${first} to ${last}.`,
		);
	}
	return { ...map, [list]: joined(map[list] ?? []) };
}

interface MovedRange {
	readonly list: Exclude<List, "queues">;
	readonly range: Shards;
	/** The name of the primary that it is on. */
	readonly from: string;
}

/** Ranges that follow each other and say the same, as one. */
function joined<Range extends HostRange>(
	ranges: readonly Range[],
): readonly Range[] {
	const all: Range[] = [];
	for (const next of ranges) {
		const before = all.at(-1);
		const isSame =
			before !== undefined &&
			before.range[1] + 1 === next.range[0] &&
			isDeepStrictEqual({ ...before, range: [] }, { ...next, range: [] });
		if (isSame) {
			all[all.length - 1] = {
				...before,
				range: [before.range[0], next.range[1]],
			};
		} else all.push(next);
	}
	return all;
}

/** The range on these hosts; null: without a replica. */
function withHosts<Range extends HostRange>(
	range: Range,
	primary: string,
	replica: string | null,
): Range {
	const { replica: _, ...rest } = range;
	return {
		...rest,
		primary,
		...(replica !== null && { replica }),
	} as Range;
}

/** The map in which a shard of the queue takes no new jobs. */
export function drainQueueShard(
	topology: Topology,
	shard: number,
): Omit<Topology, "version"> {
	const here = { range: [shard, shard] as const, primary: "" };
	return mapRanges(topology, (range, list) =>
		list !== "queues"
			? range
			: split(range, [here]).map(([part, isMeant]) =>
					isMeant === null ? part : { ...part, drain: true },
				),
	);
}

/** What of an older version comes back. */
interface Rollback {
	/** True: `open` and `weight` alone, whatever the hosts are. */
	readonly onlyPlacement: boolean;
	/** Names of primaries that never took a write, so that nothing is lost with them. */
	readonly unwritten: ReadonlySet<string>;
}

/** A primary of the current map if an older one names another. */
export interface LaterPrimary {
	/** `host:port` */
	readonly name: string;
	readonly url: string;
	/** What it is the primary of: `db00000`. */
	readonly databases: readonly string[];
}

/**
 * The current map with what an older one says of open ranges, weights and
 * replicas. Primaries stay, but for those that never took a write: there the older
 * one's come back, under a higher generation. Shards that came later stay, closed. Throws
 * BAD_TOPOLOGY if the older one names another primary in the place of one that
 * was written to, because that host lacks everything written since.
 */
export function rollbackTo(
	current: Topology,
	old: Topology,
	{ onlyPlacement, unwritten }: Rollback,
): Omit<Topology, "version"> {
	const faults: string[] = [];
	const map = mapRanges(current, (range, list) =>
		split(range, old[list] ?? []).map(([part, then]) => {
			if (then === null || onlyPlacement) return part;
			const { primary, replica = null } = then;
			if (!isMoved(part, then)) return withHosts(part, part.primary, replica);
			if (unwritten.has(nameOf(part.primary))) {
				return raised(withHosts(part, primary, replica), list);
			}
			faults.push(
				`${list} ${[...new Set(part.range)].join(" to ")}: version ${old.version} names ${redactHostUrl(primary)}, which lacks what was written since ${redactHostUrl(part.primary)} took its place`,
			);
			return part;
		}),
	);
	if (faults.length > 0) {
		throw new CorkboardError("BAD_TOPOLOGY", faults.join("\n"));
	}
	return { ...map, shards: map.shards.map((each) => placedAs(each, old)) };
}

/** The range with the placement of an older map; closed if that has none of its shards. */
function placedAs(range: ShardRange, old: Topology): ShardRange {
	const [shard] = range.range;
	const then = rangeOf(old, shard);
	const { weight: _, ...others } = range;
	return {
		...others,
		open: then?.open ?? false,
		...(then?.weight !== undefined && { weight: then.weight }),
	};
}

/** Each primary of the current map in whose place an older one names another. */
export function laterPrimaries(
	current: Topology,
	old: Topology,
): readonly LaterPrimary[] {
	const found = new Map<string, LaterPrimary>();
	const before = rangesByKind(old);
	for (const [kind, ranges] of Object.entries(rangesByKind(current))) {
		const parts = ranges.flatMap((range) =>
			split(range, before[kind as DatabaseKind]),
		);
		for (const [range, then] of parts) {
			if (then === null || !isMoved(range, then)) continue;
			const url = range.primary;
			const name = nameOf(url);
			const { databases = [] } = found.get(name) ?? {};
			const more = shardsOf([range]).map((number) =>
				databaseName(kind as DatabaseKind, number),
			);
			found.set(name, { name, url, databases: [...databases, ...more] });
		}
	}
	return [...found.values()];
}

function isMoved(now: HostRange, then: HostRange): boolean {
	return redactHostUrl(then.primary) !== redactHostUrl(now.primary);
}

/** First and last shard. */
export type Shards = readonly [number, number];

/** Sets what the shards of a range say of placement, splitting ranges at its ends. Throws NOT_FOUND if a shard is in no range. */
export function placeShards(
	topology: Topology,
	range: Shards,
	change: { readonly open?: boolean; readonly weight?: number },
): Topology {
	const [first, last] = range;
	let covered = 0;
	const shards = topology.shards.flatMap((each) =>
		split(each, [{ ...each, range }]).map(([part, then]) => {
			if (then === null) return part;
			covered += part.range[1] - part.range[0] + 1;
			return { ...part, ...change };
		}),
	);
	if (covered < last - first + 1) {
		throw new CorkboardError(
			"NOT_FOUND",
			`The topology has ${covered} of the ${last - first + 1} shards from ${first} to ${last}. To add shards on new hosts: shards open RANGE --primary URL.`,
		);
	}
	return { ...topology, shards };
}

/** Adds a range on new hosts, closed. Throws CONFLICT if the topology has some of its shards elsewhere. */
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

/** The parts of a range where older ones begin and end, each with the older one that was there. */
function split<Range extends HostRange>(
	range: Range,
	then: readonly HostRange[],
): readonly (readonly [Range, HostRange | null])[] {
	const [first, last] = range.range;
	const edges = then
		.flatMap(({ range: [low, high] }) => [low, high + 1])
		.filter((edge) => edge > first && edge <= last);
	const starts = [...new Set([first, ...edges])].toSorted((a, b) => a - b);
	return starts.map((start, index) => {
		const end = (starts[index + 1] ?? last + 1) - 1;
		return [{ ...range, range: [start, end] }, rangeIn(then, start)];
	});
}
