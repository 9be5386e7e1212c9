import { CorkboardError } from "../../errors.ts";
import type { HostRange, Topology } from "../../topology/types.ts";
import { FEED_SHARDS } from "../feedShards.ts";
import type { KeyResult } from "../storage.ts";
import { StorageFailure, toStorageError } from "../storageFailure.ts";
import { databaseOf } from "./ddl.ts";
import type { Host } from "./driver/host.ts";
import type { SharedHosts } from "./sharedHosts.ts";

/** One shard or mod shard: a database on a host. */
export interface Shard {
	readonly number: number;
	readonly database: string;
	readonly host: Host;
}

export interface ShardMap {
	/** Feed databases too, by their numbers in storage. */
	readonly shards: ReadonlyMap<number, Shard>;
	readonly modShards: ReadonlyMap<number, Shard>;
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

/** A key and its shard. */
export interface KeyOnShard<Key> {
	readonly key: Key;
	readonly shard: Shard;
}

/**
 * Reads keys from their hosts, in statements of a bounded size side by side.
 * `read` returns the results of some keys of one host, in their order. The
 * failure of a statement is the result of its own keys only.
 */
export async function readByHost<Key, A>(
	keys: readonly Key[],
	options: {
		readonly shardOf: (key: Key) => Shard | undefined;
		/** The result of a key on no shard. */
		readonly absent: (key: Key) => A;
		/** Most keys of one statement. */
		readonly maxKeys: number;
		readonly read: (
			host: Host,
			some: readonly KeyOnShard<Key>[],
		) => Promise<readonly A[]>;
	},
): Promise<readonly KeyResult<A>[]> {
	const { shardOf, absent, maxKeys, read } = options;
	const results = new Array<KeyResult<A>>(keys.length);
	const batches = new Map<Host, { placed: KeyOnShard<Key>[]; at: number[] }>();
	keys.forEach((key, index) => {
		const shard = shardOf(key);
		if (shard === undefined) {
			results[index] = absent(key);
			return;
		}
		let batch = batches.get(shard.host);
		if (batch === undefined) {
			batch = { placed: [], at: [] };
			batches.set(shard.host, batch);
		}
		batch.placed.push({ key, shard });
		batch.at.push(index);
	});
	const readSome = async (
		host: Host,
		some: readonly KeyOnShard<Key>[],
		at: readonly number[],
	) => {
		let found: readonly KeyResult<A>[];
		try {
			found = await read(host, some);
		} catch (thrown) {
			if (thrown instanceof StorageFailure) {
				found = some.map(({ shard }) => toStorageError(thrown, shard.number));
			} else if (thrown instanceof CorkboardError) {
				found = some.map(() => thrown);
			} else throw thrown;
		}
		at.forEach((index, one) => {
			results[index] = found[one] as KeyResult<A>;
		});
	};
	await Promise.all(
		[...batches].flatMap(([host, { placed, at }]) =>
			placed.length <= maxKeys
				? readSome(host, placed, at)
				: chunks(placed, maxKeys).map((some, index) =>
						readSome(
							host,
							some,
							at.slice(index * maxKeys, index * maxKeys + some.length),
						),
					),
		),
	);
	return results;
}

export function chunks<Item>(
	items: readonly Item[],
	size: number,
): readonly (readonly Item[])[] {
	return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
		items.slice(index * size, (index + 1) * size),
	);
}
