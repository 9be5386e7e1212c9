import { CorkboardError } from "../../errors.ts";
import { shardsOf } from "../../topology/ranges.ts";
import type { HostRange, Topology } from "../../topology/types.ts";
import type { KeyAt, ShardLocation, ShardLocations } from "../driver.ts";
import { FEED_SHARDS } from "../feedShards.ts";
import { databaseOf } from "./ddl.ts";
import type { Host } from "./driver/host.ts";
import type { HostLease } from "./sharedHosts.ts";

/** One shard or mod shard: a database on a host. */
export interface Shard extends ShardLocation {
	readonly number: number;
	readonly database: string;
	readonly host: Host;
}

export interface ShardMap extends ShardLocations<Shard> {
	readonly hosts: readonly Host[];
}

/** The databases of a topology. */
export function mapShards(
	{ shards, lookups, feeds = [] }: Topology,
	lease: HostLease,
): ShardMap {
	const hostAt = (url: string) => lease.at(url);
	const all = [
		...numbered("db", shards, hostAt),
		...numbered("feed", feeds, hostAt).map((shard) => ({
			...shard,
			number: shard.number + FEED_SHARDS,
		})),
	];
	const modShards = numbered("mod", lookups, hostAt);
	return {
		shards: byNumber(all),
		modShards: byNumber(modShards),
		hosts: [...new Set([...all, ...modShards].map(({ host }) => host))],
	};
}

/** The databases of ranges: `db00000` and so on. */
export function numbered(
	kind: Parameters<typeof databaseOf>[0],
	ranges: readonly HostRange[],
	hostAt: (url: string) => Host,
): readonly Shard[] {
	return ranges.flatMap((range) => {
		const host = hostAt(range.primary);
		return shardsOf([range]).map((number) => ({
			number,
			database: databaseOf(kind, number),
			host,
		}));
	});
}

export function byNumber<One extends ShardLocation>(
	locations: readonly One[],
): ReadonlyMap<number, One> {
	return new Map(
		locations
			.toSorted((a, b) => a.number - b.number)
			.map((location) => [location.number, location]),
	);
}

/**
 * Gives each primary of a topology its replica as the successor, which gets its
 * first connections once the primary refuses writes: as in a promotion, after
 * which all requests of this process would open theirs at the same moment.
 * The lease holds the replicas for as long as the version is in use.
 */
export function prepareSuccessors(
	{ shards, lookups, feeds = [] }: Topology,
	lease: HostLease,
): void {
	for (const { primary, replica } of [...shards, ...lookups, ...feeds]) {
		if (replica === undefined) continue;
		try {
			lease.at(primary).successor = lease.at(replica);
		} catch (thrown) {
			// Nothing is asked of it: an address that cannot be used is no failure of this version.
			if (!(thrown instanceof CorkboardError)) throw thrown;
		}
	}
}

/** These shards of a map, with their hosts. */
export function only(shards: readonly number[], map: ShardMap): ShardMap {
	const some = shards.flatMap((number) => {
		const shard = map.shards.get(number);
		return shard === undefined ? [] : [[number, shard] as const];
	});
	return {
		shards: new Map(some),
		modShards: new Map(),
		hosts: [...new Set(some.map(([, { host }]) => host))],
	};
}

export type KeyOnShard<Key> = KeyAt<Key, Shard>;
