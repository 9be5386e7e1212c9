import type { HostRange, Topology } from "../../topology/types.ts";
import type { KeyAt, Place, Places } from "../driver.ts";
import { FEED_SHARDS } from "../feedShards.ts";
import { databaseOf } from "./ddl.ts";
import type { Host } from "./driver/host.ts";
import type { SharedHosts } from "./sharedHosts.ts";

/** One shard or mod shard: a database on a host. */
export interface Shard extends Place {
	readonly number: number;
	readonly database: string;
	readonly host: Host;
}

export interface ShardMap extends Places<Shard> {
	readonly hosts: readonly Host[];
}

/**
 * The databases of a topology. Ranges with the same URL share one host; each is
 * taken of `hosts` once, and the caller gives it back.
 */
export function mapShards(
	{ shards, lookups, feeds = [] }: Topology,
	hosts: SharedHosts,
): ShardMap {
	const taken = takeHosts(
		new Set([...shards, ...lookups, ...feeds].map(({ primary }) => primary)),
		hosts,
	);
	const databases = (
		ranges: readonly HostRange[],
		kind: "db" | "mod" | "feed",
	) =>
		new Map(
			ranges
				.flatMap(({ range: [first, last], primary }) => {
					const host = taken.get(primary) as Host;
					return Array.from({ length: last - first + 1 }, (_, index) => {
						const number = first + index;
						const database = databaseOf(kind, number);
						return {
							number: kind === "feed" ? number + FEED_SHARDS : number,
							database,
							host,
						};
					});
				})
				.sort((a, b) => a.number - b.number)
				.map((shard) => [shard.number, shard] as const),
		);
	return {
		shards: new Map([...databases(shards, "db"), ...databases(feeds, "feed")]),
		modShards: databases(lookups, "mod"),
		hosts: [...taken.values()],
	};
}

/** All of them or, where one has no address, none. */
function takeHosts(
	urls: ReadonlySet<string>,
	hosts: SharedHosts,
): ReadonlyMap<string, Host> {
	const taken = new Map<string, Host>();
	try {
		for (const url of urls) taken.set(url, hosts.take(url));
		return taken;
	} catch (thrown) {
		// Those without other users have opened no connection yet.
		for (const host of taken.values()) void hosts.giveBack(host);
		throw thrown;
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
