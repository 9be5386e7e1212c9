import type { CacheEntry } from "../cache/cacheEntry.ts";
import type { LocalCacheLevel } from "../cache/diagnostics.ts";
import type { LocalCache } from "../cache/localCache.ts";
import { type Id, shardOf } from "../id/ids.ts";
import { FEED_SHARDS } from "../storage/feedShards.ts";
import type { ChangedShards } from "../topology/ranges.ts";
import type { ChangedNames } from "./changedKeys.ts";
import { channelOfShard } from "./channels.ts";
import { type ListId, parsePublishedKey } from "./publishedKeys.ts";

/**
 * The caches in this process, for those who learn what others changed, or that
 * they may have missed it: the channel, the watch on outboxes, a newer topology.
 */
export interface ProcessCaches {
	/** Drops what another process published with `SharedCaches.publish`. */
	applyInvalidations(keys: readonly string[]): void;
	invalidateAll(): void;
	/** Drops what is of these shards: a former primary may have had what the new one lacks. */
	invalidateShards(changed: ChangedShards): void;
	/** Drops what is invalidated over these channels. */
	invalidateChannels(channels: ReadonlySet<number>): void;
	/** While on, nothing of these channels is cached: for as long as invalidations of other processes are not received on them. */
	bypass(channels: ReadonlySet<number>, on: boolean): void;
	/** As `bypass`, for as long as what changes on these channels is looked for elsewhere: objects and heads live ten seconds at most, and no lookup is kept. */
	keepBriefly(channels: ReadonlySet<number>, on: boolean): void;
	/** While on, objects and heads live ten seconds at most. */
	limitAge(on: boolean): void;
	/** Reads objects and heads of these shards past the caches, until the next call; null for none. */
	bypassShards(shards: ReadonlySet<number> | null): void;
	/** How full they are. */
	levels(): readonly LocalCacheLevel[];
}

/** What they are made of. */
export interface DroppingCaches {
	readonly objects: {
		readonly local: Dropping;
		invalidate(id: Id): void;
	};
	readonly heads: {
		readonly local: Dropping;
		/** By the name of the mapping. */
		invalidate(mapping: string, from: string): void;
	};
	readonly lookups: {
		readonly local: Dropping;
		/** By `lookupName`. */
		invalidate(name: string): void;
		invalidateModShards(modShards: ReadonlySet<number>): void;
	};
}

type Dropping = Pick<
	LocalCache<CacheEntry>,
	| "invalidateAll"
	| "invalidateChannels"
	| "invalidateWhere"
	| "bypass"
	| "limitAge"
	| "limitAgeOf"
	| "bypassKeys"
	| "level"
>;

export function processCachesOf(
	caches: DroppingCaches,
	/** Drops here and in the shared caches what the process that published it could not delete there. */
	dropUndeleted: (changed: ChangedNames) => void,
): ProcessCaches {
	const { objects, heads, lookups } = caches;
	const all = [objects.local, heads.local, lookups.local];
	const invalidateAll = () => {
		for (const cache of all) cache.invalidateAll();
	};
	return {
		applyInvalidations(keys) {
			const ids: Id[] = [];
			const lists: ListId[] = [];
			for (const key of keys) {
				const published = parsePublishedKey(key);
				if (published === null) continue;
				if (published.kind === "*") invalidateAll();
				else if (published.kind === "l") lookups.invalidate(published.name);
				else if (published.kind === "o") {
					const id = published.id as Id;
					objects.invalidate(id);
					if (published.isUndeleted) ids.push(id);
				} else {
					const { mapping, from } = published.list;
					heads.invalidate(mapping, from);
					if (published.isUndeleted) lists.push(published.list);
				}
			}
			if (ids.length + lists.length > 0) dropUndeleted({ objects: ids, lists });
		},

		invalidateAll,

		invalidateChannels(channels) {
			for (const cache of all) cache.invalidateChannels(channels);
		},

		invalidateShards({ shards, modShards }) {
			if (shards.size > 0) {
				const isChanged = (id: string) => shards.has(shardOf(id as Id));
				const channels = new Set(Array.from(shards, channelOfShard));
				objects.local.invalidateWhere(isChanged, channels);
				heads.local.invalidateWhere(isChanged, channels);
			}
			if (modShards.size > 0) lookups.invalidateModShards(modShards);
		},

		bypass(channels, on) {
			for (const cache of all) cache.bypass(channels, on);
		},

		keepBriefly(channels, on) {
			objects.local.limitAgeOf(channels, on);
			heads.local.limitAgeOf(channels, on);
			lookups.local.bypass(channels, on);
		},

		limitAge(on) {
			objects.local.limitAge(on);
			heads.local.limitAge(on);
		},

		bypassShards(shards) {
			const channels = new Set(Array.from(shards ?? [], channelOfShard));
			objects.local.bypassKeys(
				shards && ((id) => shards.has(shardOf(id as Id))),
				channels,
			);
			heads.local.bypassKeys(
				shards &&
					((id) =>
						shards.has(shardOf(id as Id)) ||
						shards.has(shardOf(id as Id) + FEED_SHARDS)),
				channels,
			);
			// Lookups live ten seconds only.
		},

		levels: () => [
			{ cache: "objects", ...objects.local.level() },
			{ cache: "heads", ...heads.local.level() },
			{ cache: "lookups", ...lookups.local.level() },
		],
	};
}

/** Drops objects and heads from the caches in this process. */
export function dropLocally(
	{ objects, heads }: DroppingCaches,
	{ objects: ids = [], lists = [] }: ChangedNames,
): void {
	for (const id of ids) objects.invalidate(id);
	for (const { mapping, from } of lists) heads.invalidate(mapping, from);
}
