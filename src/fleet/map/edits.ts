import { CorkboardError } from "../../errors.ts";
import { parseHostUrl, redactHostUrl } from "../../topology/hostUrl.ts";
import { shardsOf } from "../../topology/ranges.ts";
import type {
	FeedRange,
	HostRange,
	ShardRange,
	Topology,
} from "../../topology/types.ts";

/** What of an older version comes back. */
export interface Rollback {
	/** True: `open` and `weight` alone, whatever the hosts are. */
	readonly onlyPlacement: boolean;
	/** Names of primaries that never took a write, so that nothing is lost with them. */
	readonly unwritten: ReadonlySet<string>;
}

/** A primary of the current map where an older one names another. */
export interface LaterPrimary {
	/** `host:port` */
	readonly name: string;
	readonly url: string;
	/** What it is the primary of: `db00000`. */
	readonly databases: readonly string[];
}

const LISTS = {
	shards: "db",
	lookups: "mod",
	queues: "queue",
	feeds: "feed",
	pools: "pool",
} as const;
type List = keyof typeof LISTS;

/**
 * The current map with what an older one says of open ranges, weights and
 * replicas. Primaries stay, but for those that never took a write: there the older
 * one's come back, under a higher generation. Shards that came later stay, closed. Throws
 * BAD_TOPOLOGY where the older one names another primary in the place of one that
 * was written to, because that host lacks everything written since.
 */
export function rollbackTo(
	current: Topology,
	old: Topology,
	{ onlyPlacement, unwritten }: Rollback,
): Omit<Topology, "version"> {
	const faults: string[] = [];
	const restored = <Range extends HostRange>(
		list: List,
		now: readonly Range[],
	): readonly Range[] =>
		split<Range>(
			now,
			(old[list] ?? []) as readonly HostRange[] as readonly Range[],
		).map(([range, then]) => {
			if (then === null || onlyPlacement) return range;
			const { replica: _, ...others } = range;
			const replica =
				then.replica === undefined ? {} : { replica: then.replica };
			if (!isMoved(range, then)) return { ...others, ...replica } as Range;
			if (unwritten.has(nameOf(range.primary))) {
				return {
					...others,
					...replica,
					primary: then.primary,
					...raised(list, range),
				} as Range;
			}
			faults.push(
				`${list} ${[...new Set(range.range)].join(" to ")}: version ${old.version} names ${redactHostUrl(then.primary)}, which lacks what was written since ${redactHostUrl(range.primary)} took its place`,
			);
			return range;
		});
	const shards = restored("shards", current.shards).map((range): ShardRange => {
		const [shard] = range.range;
		const then = old.shards.find(
			({ range: [first, last] }) => first <= shard && shard <= last,
		);
		const { weight: _, ...others } = range;
		return {
			...others,
			open: then?.open ?? false,
			...(then?.weight !== undefined && { weight: then.weight }),
		};
	});
	const { lookups, queues, feeds, pools } = current;
	const map = {
		...current,
		shards,
		lookups: restored("lookups", lookups),
		...(queues && { queues: restored("queues", queues) }),
		...(feeds && { feeds: restored("feeds", feeds) }),
		...(pools && { pools: restored("pools", pools) }),
	};
	if (faults.length === 0) return map;
	throw new CorkboardError("BAD_TOPOLOGY", faults.join("\n"));
}

/** Each primary of the current map in whose place an older one names another. */
export function laterPrimaries(
	current: Topology,
	old: Topology,
): readonly LaterPrimary[] {
	const found = new Map<string, LaterPrimary>();
	for (const [list, prefix] of Object.entries(LISTS)) {
		const now: readonly HostRange[] = current[list as List] ?? [];
		for (const [range, then] of split(now, old[list as List] ?? [])) {
			if (then === null || !isMoved(range, then)) continue;
			const name = nameOf(range.primary);
			const { databases = [] } = found.get(name) ?? {};
			const more = shardsOf([range]).map(
				(number) => `${prefix}${String(number).padStart(5, "0")}`,
			);
			const url = range.primary;
			found.set(name, { name, url, databases: [...databases, ...more] });
		}
	}
	return [...found.values()];
}

function isMoved(now: HostRange, then: HostRange): boolean {
	return redactHostUrl(then.primary) !== redactHostUrl(now.primary);
}

/** Only these lists have generations. */
function raised(list: List, { generation = 0 }: Partial<FeedRange>) {
	return list === "shards" || list === "feeds"
		? { generation: generation + 1 }
		: {};
}

function nameOf(url: string): string {
	const parsed = parseHostUrl(url);
	return parsed?.scheme === "mysql" ? parsed.name : url;
}

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

/** The current ranges, split where the older ones begin and end, each with the older one that was there. */
function split<Range extends HostRange>(
	now: readonly Range[],
	then: readonly Range[],
): readonly (readonly [Range, Range | null])[] {
	const edges = then.flatMap(({ range: [first, last] }) => [first, last + 1]);
	return now.flatMap((range) => {
		const [first, last] = range.range;
		const starts = [
			first,
			...edges.filter((edge) => edge > first && edge <= last),
		];
		const sorted = [...new Set(starts)].toSorted((a, b) => a - b);
		return sorted.map((start, index): readonly [Range, Range | null] => {
			const end = (sorted[index + 1] ?? last + 1) - 1;
			const before =
				then.find(({ range }) => range[0] <= start && start <= range[1]) ??
				null;
			return [{ ...range, range: [start, end] }, before];
		});
	});
}
