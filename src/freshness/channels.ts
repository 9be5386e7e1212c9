import { CHANNELS } from "../cache/slotVersions.ts";
import { type Id, shardOf } from "../id/ids.ts";
import { fnv1a } from "../util/fnv1a.ts";

/*
 * What processes publish goes over channels by the shard of what changed, each
 * over one Redis: one that is lost costs a part of the caches. The numbers of
 * neighboring shards are on different channels, so that a small fleet has many too.
 */

/** The channel of a shard, as storage numbers them: feed databases too. */
export function channelOfShard(shard: number): number {
	return shard % CHANNELS;
}

/** The channel of an object, or of a list by its owner. */
export function channelOfId(id: string): number {
	return channelOfShard(shardOf(id as Id));
}

/** The same by the upper 32 bits of the id. */
export function channelOfWord(_id: string, upper: number): number {
	return channelOfShard(upper >>> SHARD_AT);
}

/** By `lookupName`. */
export function channelOfLookup(name: string): number {
	return fnv1a(name) % CHANNELS;
}

/** Where the shard begins in the upper half of an id. */
const SHARD_AT = 14;
