import type { DatabaseKind } from "../map/databases.ts";

/** What a database takes of its host. */
export interface Load {
	readonly bytes: number;
	/** Rows a second. */
	readonly writes: number;
}

/** Jobs are not moved: a queue shard is drained, and another one made. */
type MovableKind = Exclude<DatabaseKind, "queue">;

/** A range of the topology, as its primary holds it. */
export interface LoadedRange {
	readonly kind: MovableKind;
	readonly host: string;
	readonly first: number;
	/** The load of each shard, from the first on. */
	readonly loads: readonly Load[];
}

export interface LoadedHost {
	/** Whether every range of this primary has a replica. */
	readonly hasReplica: boolean;
	/** The load of queue shards, which stay where they are. */
	readonly fixed: Load;
}

/** What every primary holds. */
export interface FleetLoad {
	/** By `host:port`. */
	readonly hosts: ReadonlyMap<string, LoadedHost>;
	readonly ranges: readonly LoadedRange[];
}

export interface PlannedMove extends Load {
	readonly kind: MovableKind;
	/** First and last shard. */
	readonly range: readonly [number, number];
	readonly from: string;
	readonly to: string;
}

export interface MovePlan {
	readonly moves: readonly PlannedMove[];
	/** The load of each primary, by `host:port`. */
	readonly before: ReadonlyMap<string, Load>;
	readonly after: ReadonlyMap<string, Load>;
}

export const NO_LOAD: Load = { bytes: 0, writes: 0 };

export function add(one: Load, other: Load): Load {
	return {
		bytes: one.bytes + other.bytes,
		writes: one.writes + other.writes,
	};
}

export function subtract(one: Load, other: Load): Load {
	return {
		bytes: one.bytes - other.bytes,
		writes: one.writes - other.writes,
	};
}

export function sumOf(loads: Iterable<Load>): Load {
	return [...loads].reduce(add, NO_LOAD);
}

export function loadsByHost({
	hosts,
	ranges,
}: FleetLoad): ReadonlyMap<string, Load> {
	const loads = new Map(
		[...hosts].map(([host, { fixed }]): [string, Load] => [host, fixed]),
	);
	for (const { host, loads: own } of ranges) {
		loads.set(host, add(loads.get(host) ?? NO_LOAD, sumOf(own)));
	}
	return loads;
}

/** The fleet after a move of the first or the last shards of a range. */
export function withMove(
	{ hosts, ranges }: FleetLoad,
	{ kind, range: [first, last], to }: PlannedMove,
): FleetLoad {
	return {
		hosts,
		ranges: ranges.flatMap((range) => {
			const end = range.first + range.loads.length - 1;
			if (range.kind !== kind || first < range.first || last > end) {
				return [range];
			}
			const part = (from: number, until: number) => ({
				...range,
				first: from,
				loads: range.loads.slice(from - range.first, until - range.first),
			});
			return [
				part(range.first, first),
				{ ...part(first, last + 1), host: to },
				part(last + 1, end + 1),
			].filter(({ loads }) => loads.length > 0);
		}),
	};
}

/** Whether what is on one host keeps its replica on the other. */
export function keepsReplica(
	{ hosts }: FleetLoad,
	from: string,
	to: string,
): boolean {
	const has = (host: string) => hosts.get(host)?.hasReplica === true;
	return has(to) || !has(from);
}
