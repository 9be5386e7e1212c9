import { readConfiguredTopology } from "../app/openTopology.ts";
import { readConfig } from "../config/config.ts";
import { nameOf } from "../fleet/map/mapRanges.ts";
import type { Topology } from "../topology/types.ts";
import type { CommandContext } from "./commandContext.ts";

/** A range of shards, lookups, feeds, queues or pools, as `shards list` prints it. */
interface ListedRange {
	readonly list: "shards" | "lookups" | "feeds" | "queues" | "pools";
	readonly range: readonly [number, number];
	readonly primary: string;
	readonly replica: string | null;
	/** Whether new users, or new jobs, come here; null if that is not said of it. */
	readonly open: boolean | null;
	readonly weight: number | null;
}

/** A server that the map names. */
interface ListedHost {
	readonly host: string;
	readonly roles: readonly ("primary" | "replica")[];
	readonly shards: number;
	readonly openShards: number;
	readonly lookups: number;
	readonly feeds: number;
	readonly queues: number;
	readonly pools: number;
}

/** The map that the settings name, or that of an embedded folder. No host is asked. */
export function readMap({ env }: CommandContext): Promise<Topology> {
	return readConfiguredTopology(readConfig(env, { secret: "unneeded" }));
}

export function rangesIn(topology: Topology): readonly ListedRange[] {
	const { shards, lookups, feeds = [], queues = [], pools = [] } = topology;
	const listed = (
		list: ListedRange["list"],
		ranges: typeof lookups,
		rest: (at: number) => Pick<ListedRange, "open" | "weight"> = () => ({
			open: null,
			weight: null,
		}),
	) =>
		ranges.map(({ range, primary, replica }, at) => ({
			list,
			range,
			primary: nameOf(primary),
			replica: replica === undefined ? null : nameOf(replica),
			...rest(at),
		}));
	return [
		...listed("shards", shards, (at) => ({
			open: shards[at]?.open ?? null,
			weight: shards[at]?.weight ?? 1,
		})),
		...listed("lookups", lookups),
		...listed("feeds", feeds),
		...listed("queues", queues, (at) => ({
			open: queues[at]?.drain !== true,
			weight: null,
		})),
		...listed("pools", pools),
	];
}

/** The servers of a map, and how many shards of each kind they are the primary of. */
export function hostsIn(topology: Topology): readonly ListedHost[] {
	const ranges = rangesIn(topology);
	const names = new Set(
		ranges.flatMap(({ primary, replica }) =>
			replica === null ? [primary] : [primary, replica],
		),
	);
	return [...names].map((host) => {
		const own = ranges.filter(({ primary }) => primary === host);
		const count = (chosen: readonly ListedRange[]) =>
			chosen.reduce((sum, { range: [low, high] }) => sum + high - low + 1, 0);
		const of = (list: ListedRange["list"]) =>
			count(own.filter((range) => range.list === list));
		return {
			host,
			roles: [
				...(own.length > 0 ? (["primary"] as const) : []),
				...(ranges.some(({ replica }) => replica === host)
					? (["replica"] as const)
					: []),
			],
			shards: of("shards"),
			openShards: count(
				own.filter(({ list, open }) => list === "shards" && open === true),
			),
			lookups: of("lookups"),
			feeds: of("feeds"),
			queues: of("queues"),
			pools: of("pools"),
		};
	});
}
