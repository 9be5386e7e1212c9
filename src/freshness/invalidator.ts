import type { CacheEntry } from "../cache/cacheEntry.ts";
import type { LocalCache } from "../cache/localCache.ts";
import { type Id, shardOf } from "../id/ids.ts";
import { FEED_SHARDS } from "../storage/feedShards.ts";
import { lookupName } from "../storage/keys.ts";
import type { ListKey, LookupKey } from "../storage/rows.ts";
import type { ChangedShards } from "../topology/ranges.ts";
import type { WriteTrace } from "../trace.ts";
import type { MaybePromise } from "../util/maybePromise.ts";
import {
	ACKNOWLEDGED,
	type Acknowledged,
	type ChangedKeys,
	type ChangedNames,
	namesOf,
	publishedKeys,
	UNACKNOWLEDGED,
} from "./changedKeys.ts";
import { channelOfShard } from "./channels.ts";
import { type ListId, lookupKey, parsePublishedKey } from "./publishedKeys.ts";
import type { SharedCaches } from "./sharedCaches.ts";
import { SharedInvalidations } from "./sharedInvalidations.ts";

/** The part of a store that drops cached values, and what lookups need of it. */
export interface Invalidator {
	/** The host of the shared cache that holds an object or a list's head, as `host:port`; null without such a cache. */
	cacheHostOf(key: Id | ListKey): string | null;
	/** Before COMMIT: tombstones in the shared caches. Returns whether these acknowledged. */
	putTombstones(changed: ChangedKeys, trace?: WriteTrace): Promise<boolean>;
	/** After COMMIT: drops the keys from all caches, here and in other processes. Returns whether the shared caches acknowledged and Redis took the publication. From the call on, this process reads no old value, acknowledged or not. */
	invalidate(changed: ChangedKeys, trace?: WriteTrace): Promise<boolean>;
	/** Whether the shared caches acknowledged all invalidations of these keys and Redis took what was published of them, after waiting for that at most so long. */
	untilInvalidated(changed: ChangedKeys, ms: number): Promise<boolean>;
	/** Drops the keys from the caches in this process. */
	invalidateLocally(changed: ChangedKeys): void;
	/** Makes other processes drop the keys from theirs. */
	publish(changed: ChangedKeys): void;
	/** Drops here what another process published with `SharedCaches.publish`. */
	applyInvalidations(keys: readonly string[]): void;
	/** Drops published keys here and publishes them. Returns whether Redis took them. */
	announce(keys: readonly string[]): Promise<boolean>;
	/** Drops everything cached in the process. */
	invalidateAll(): void;
	/** Drops what is cached in the process of these shards: a former primary may have had what the new one lacks. */
	invalidateShards(changed: ChangedShards): void;
	/** Drops what is cached in the process and is invalidated over these channels. */
	invalidateChannels(channels: ReadonlySet<number>): void;
	/** While on, nothing of these channels is cached in the process: for as long as invalidations of other processes are not received on them. */
	bypass(channels: ReadonlySet<number>, on: boolean): void;
	/** As `bypass`, for as long as what changes on these channels is looked for elsewhere: objects and heads live ten seconds at most, and no lookup is kept. */
	keepBriefly(channels: ReadonlySet<number>, on: boolean): void;
	/** While on, what is cached in the process lives ten seconds at most. */
	limitAge(on: boolean): void;
	/** Reads objects and heads of these shards past the cache in the process, until the next call; null for none. */
	bypassShards(shards: ReadonlySet<number> | null): void;
	/** Drops the rows from the cache in this process, and makes the others drop theirs. */
	invalidateLookups(keys: readonly LookupKey[]): void;
}

/** The caches in the process, as far as they drop what they hold. */
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
>;

/**
 * The invalidation protocol (docs/consistency.md, "3. Caches"). The steps of a
 * write:
 *
 * 1. Before COMMIT: tombstones in the shared caches. Until they expire no reader
 *    fills them with the old value, even if the writer dies.
 * 2. After COMMIT: drop the keys in this process, delete them in the shared
 *    caches, drop them in this process again, and publish them to the other
 *    processes, which drop theirs.
 * 3. A shared cache that does not acknowledge a delete may hold the old value.
 *    This process reads those keys past it until it does, and so does each
 *    process that receives the publication: it asks them to delete the keys too.
 *
 * Deletes come before the publication: a process that received it first could read
 * the old value back from a shared cache, and keep it.
 */
export function createInvalidator(
	caches: DroppingCaches,
	shared: SharedCaches | undefined,
): Invalidator {
	const inShared = new SharedInvalidations(shared);

	function dropLocally({ objects: ids = [], lists = [] }: ChangedNames) {
		for (const id of ids) caches.objects.invalidate(id);
		for (const { mapping, from } of lists) {
			caches.heads.invalidate(mapping, from);
		}
	}

	/** Returns what the shared caches acknowledged. */
	async function drop(
		changed: ChangedNames,
		trace?: WriteTrace,
	): Promise<Acknowledged> {
		dropLocally(changed);
		const acknowledged = await inShared.delete(changed, trace);
		// A read that began before the delete may have ended meanwhile.
		dropLocally(changed);
		return acknowledged;
	}

	function publishKeys(keys: readonly string[]): MaybePromise<boolean> {
		return keys.length === 0 || shared === undefined || shared.publish(keys);
	}

	function applyInvalidations(keys: readonly string[]): void {
		const ids: Id[] = [];
		const lists: ListId[] = [];
		for (const key of keys) {
			const published = parsePublishedKey(key);
			if (published === null) continue;
			if (published.kind === "*") wholeCaches.invalidateAll();
			else if (published.kind === "l") {
				caches.lookups.invalidate(published.name);
			} else if (published.kind === "o") {
				const id = published.id as Id;
				caches.objects.invalidate(id);
				if (published.isUndeleted) ids.push(id);
			} else {
				const { mapping, from } = published.list;
				caches.heads.invalidate(mapping, from);
				if (published.isUndeleted) lists.push(published.list);
			}
		}
		// Not published again: the sender asked every process.
		if (ids.length + lists.length > 0) void drop({ objects: ids, lists });
	}

	const wholeCaches = wholeCachesOf(caches);
	return {
		...wholeCaches,

		async putTombstones(changed, trace) {
			const names = namesOf(changed);
			const { objects, lists } = await inShared.putTombstones(names, trace);
			return objects && lists;
		},

		cacheHostOf: (key) => inShared.hostOf(key),

		invalidateLocally: (changed) => dropLocally(namesOf(changed)),
		publish: (changed) =>
			void publishKeys(publishedKeys(namesOf(changed), ACKNOWLEDGED)),

		async invalidate(changed, trace) {
			const names = namesOf(changed);
			const acknowledged = await drop(names, trace);
			const isPublished = await publishKeys(publishedKeys(names, acknowledged));
			return acknowledged.objects && acknowledged.lists && isPublished;
		},

		async untilInvalidated(changed, ms) {
			if (shared === undefined) return true;
			const names = namesOf(changed);
			const [{ objects, lists }, isPublished] = await Promise.all([
				inShared.untilDeleted(names, ms),
				shared.untilPublished(
					[
						...publishedKeys(names, ACKNOWLEDGED),
						...publishedKeys(names, UNACKNOWLEDGED),
					],
					ms,
				),
			]);
			return objects && lists && isPublished;
		},

		invalidateLookups(keys) {
			for (const key of keys) caches.lookups.invalidate(lookupName(key));
			void publishKeys(keys.map(lookupKey));
		},

		applyInvalidations,

		async announce(keys) {
			applyInvalidations(keys);
			return publishKeys(keys);
		},
	};
}

/** What is done to all entries, or to those of whole shards. */
function wholeCachesOf({
	objects,
	heads,
	lookups,
}: DroppingCaches): Pick<
	Invalidator,
	| "invalidateAll"
	| "invalidateChannels"
	| "invalidateShards"
	| "bypass"
	| "keepBriefly"
	| "limitAge"
	| "bypassShards"
> {
	const all = [objects.local, heads.local, lookups.local];
	return {
		invalidateAll() {
			for (const cache of all) cache.invalidateAll();
		},

		invalidateChannels(channels) {
			for (const cache of all) cache.invalidateChannels(channels);
		},

		invalidateShards({ shards, modShards }) {
			if (shards.size > 0) {
				const isChanged = (id: string) => shards.has(shardOf(id as Id));
				objects.local.invalidateWhere(isChanged);
				heads.local.invalidateWhere(isChanged);
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
	};
}
