import { type Id, MAX_SHARD, unpackId } from "../id/ids.ts";
import type { Mapping } from "../model/types.ts";
import type { StorageMap } from "./storage.ts";

/**
 * Feed databases are shards of storage, with numbers above those of ids: shard 42
 * has its objects and lists in `db00042`, and, if the topology says so, its feed
 * lists and their outbox in `feed00042`, which is shard 65,578 of storage.
 */
export const FEED_SHARDS = MAX_SHARD + 1;

export function isFeedShard(shard: number): boolean {
	return shard >= FEED_SHARDS;
}

/** The shard in the ids of what is on a shard of storage. */
export function shardInIds(shard: number): number {
	return shard >= FEED_SHARDS ? shard - FEED_SHARDS : shard;
}

/** The name of its database: `db00042`, `feed00042`. */
export function databaseOfShard(shard: number): string {
	return `${isFeedShard(shard) ? "feed" : "db"}${String(shardInIds(shard)).padStart(5, "0")}`;
}

/** Where the lists of a mapping are whose owners are on a shard. `feeds`: the feed databases that there are. */
export function shardOfLists(
	mapping: Pick<Mapping, "place">,
	shard: number,
	feeds: ReadonlySet<number>,
): number {
	if (mapping.place !== "FEEDS") return shard;
	const feed = shard + FEED_SHARDS;
	return feeds.has(feed) ? feed : shard;
}

/** The same for one list. */
export function shardOfList(
	{ mapping, from }: { readonly mapping: Mapping; readonly from: Id },
	{ map }: { readonly map: Pick<StorageMap, "shardOfLists"> },
): number {
	return map.shardOfLists(mapping, unpackId(from).shard);
}
