import type { SharedCache } from "../../cache/sharedCache.ts";
import type { Span, WriteTrace } from "../../diagnostics.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import { FEED_SHARDS } from "../../storage/feedShards.ts";
import { listName, lookupName } from "../../storage/keys.ts";
import type { LookupKey } from "../../storage/storage.ts";
import type { HeadCache } from "./headCache.ts";
import { InvalidationBatches } from "./invalidationBatches.ts";
import type { LookupCache } from "./lookupCache.ts";
import type { ObjectCache } from "./objectCache.ts";
import {
	headKey,
	lookupKey,
	objectKey,
	parsePublishedKey,
} from "./publishedKeys.ts";
import {
	sharedListKey,
	sharedListNameKey,
	sharedObjectKey,
} from "./sharedKey.ts";
import type { ChangedKeys, SharedCaches, Store } from "./store.ts";

/** The part of a store that drops cached values, and what lookups need of it. */
export interface Invalidator
	extends Pick<
		Store,
		| "cacheHostOf"
		| "putTombstones"
		| "invalidateLocally"
		| "publish"
		| "invalidate"
		| "untilInvalidated"
		| "applyInvalidations"
		| "announce"
		| "invalidateAll"
		| "invalidateShards"
		| "bypass"
		| "limitAge"
		| "bypassShards"
	> {
	invalidateLookups(keys: readonly LookupKey[]): void;
}

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
	caches: {
		readonly objects: ObjectCache;
		readonly heads: HeadCache;
		readonly lookups: LookupCache;
	},
	shared: SharedCaches | undefined,
): Invalidator {
	const all = [caches.objects.local, caches.heads.local, caches.lookups.local];

	const tombstones = batchesOf(shared, (cache, keys) =>
		cache.putTombstones(keys),
	);
	const deletes = batchesOf(shared, (cache, keys) => cache.delete(keys));

	/** The results of one call of each shared cache that has some of the keys; true for a cache that has none. */
	async function inSharedCaches(
		{ objects: ids = [], lists = [] }: ChangedNames,
		send: (
			cache: SharedCache,
			keys: readonly string[],
		) => boolean | Promise<boolean>,
	): Promise<Acknowledged> {
		if (shared === undefined) return EVERYTHING;
		const each = (cache: SharedCache | null, keys: readonly string[]) =>
			cache === null || keys.length === 0 || send(cache, keys);
		const [ofObjects, ofLists] = await Promise.all([
			each(
				shared.objects,
				ids.map((id) => sharedObjectKey(shared, id)),
			),
			each(
				shared.heads,
				lists.map(({ name, from }) => sharedListNameKey(shared, name, from)),
			),
		]);
		return { objects: ofObjects, lists: ofLists };
	}

	function dropLocally({ objects: ids = [], lists = [] }: ChangedNames) {
		for (const id of ids) caches.objects.invalidate(id);
		for (const { name } of lists) caches.heads.invalidate(name);
	}

	/** Returns what the shared caches acknowledged. */
	async function drop(
		changed: ChangedNames,
		trace?: WriteTrace,
	): Promise<Acknowledged> {
		dropLocally(changed);
		const acknowledged = await inSharedCaches(changed, async (cache, keys) => {
			const span = startCacheSpan(trace, "delete", cache, keys.length);
			const isDeleted = (await deletes.get(cache)?.add(keys)) ?? false;
			span?.end(isDeleted ? null : NOT_ACKNOWLEDGED);
			trace?.cache("delete", cache.layer, keys.length, isDeleted);
			return isDeleted;
		});
		// A read that began before the delete may have ended meanwhile.
		dropLocally(changed);
		return acknowledged;
	}

	async function publishKeys(keys: readonly string[]): Promise<boolean> {
		return keys.length === 0 || shared === undefined || shared.publish(keys);
	}

	function applyInvalidations(keys: readonly string[]): void {
		const ids: Id[] = [];
		const lists: ListName[] = [];
		for (const key of keys) {
			const parsed = parsePublishedKey(key);
			if (parsed === null) continue;
			const { kind, isUndeleted, name } = parsed;
			const id = parsed.id as Id;
			if (kind === "*") invalidateAll();
			else if (kind === "l") caches.lookups.invalidate(name);
			else if (kind === "o") {
				caches.objects.invalidate(id);
				if (isUndeleted) ids.push(id);
			} else {
				caches.heads.invalidate(name);
				if (isUndeleted) lists.push({ name, from: id });
			}
		}
		// Not published again: the sender asked every process.
		if (ids.length + lists.length > 0) void drop({ objects: ids, lists });
	}

	function invalidateAll(): void {
		for (const cache of all) cache.invalidateAll();
	}

	return {
		async putTombstones(changed, trace) {
			const { objects, lists } = await inSharedCaches(
				namesOf(changed),
				async (cache, keys) => {
					const span = startCacheSpan(trace, "tombstone", cache, keys.length);
					const isPut = (await tombstones.get(cache)?.add(keys)) ?? false;
					span?.end(isPut ? null : NOT_ACKNOWLEDGED);
					trace?.cache("tombstone", cache.layer, keys.length, isPut);
					return isPut;
				},
			);
			return objects && lists;
		},

		cacheHostOf(key) {
			if (shared === undefined) return null;
			if (typeof key === "string") {
				return shared.objects?.hostOf(sharedObjectKey(shared, key)) ?? null;
			}
			const { mapping, from } = key;
			const name = sharedListKey(shared, mapping.name, from);
			return shared.heads?.hostOf(name) ?? null;
		},

		invalidateLocally: (changed) => dropLocally(namesOf(changed)),
		publish: (changed) => void publishKeys(publishedKeys(namesOf(changed))),

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
				inSharedCaches(names, (cache, keys) => cache.untilDeleted(keys, ms)),
				shared.untilPublished(
					[...publishedKeys(names), ...publishedKeys(names, NOTHING)],
					ms,
				),
			]);
			return objects && lists && isPublished;
		},

		invalidateLookups(keys) {
			const names = keys.map(lookupName);
			for (const name of names) caches.lookups.invalidate(name);
			void publishKeys(names.map(lookupKey));
		},

		applyInvalidations,

		announce(keys) {
			applyInvalidations(keys);
			return publishKeys(keys);
		},

		invalidateAll,

		invalidateShards({ shards, modShards }) {
			if (shards.size > 0) {
				const isChanged = (id: string) => shards.has(unpackId(id as Id).shard);
				caches.objects.local.invalidateWhere(isChanged);
				caches.heads.local.invalidateWhere(isChanged);
			}
			if (modShards.size > 0) caches.lookups.invalidateModShards(modShards);
		},

		bypass(on) {
			for (const cache of all) cache.bypass(on);
		},

		limitAge(on) {
			caches.objects.local.limitAge(on);
			caches.heads.local.limitAge(on);
		},

		bypassShards(shards) {
			const shardOf = (id: string) => unpackId(id as Id).shard;
			caches.objects.local.bypassKeys(
				shards && ((id) => shards.has(shardOf(id))),
			);
			caches.heads.local.bypassKeys(
				shards &&
					((id) =>
						shards.has(shardOf(id)) || shards.has(shardOf(id) + FEED_SHARDS)),
			);
			// Lookups live ten seconds only.
		},
	};
}

function batchesOf(
	shared: SharedCaches | undefined,
	send: (cache: SharedCache, keys: readonly string[]) => Promise<boolean>,
): ReadonlyMap<SharedCache, InvalidationBatches> {
	const caches = [shared?.objects, shared?.heads].filter(
		(cache) => cache !== undefined && cache !== null,
	);
	return new Map(
		caches.map((cache) => [
			cache,
			new InvalidationBatches(cache, (keys) => send(cache, keys)),
		]),
	);
}

/** Changed keys with the names of lists that caches use. */
interface ChangedNames {
	readonly objects?: readonly Id[];
	readonly lists?: readonly ListName[];
}

interface ListName {
	readonly name: string;
	readonly from: Id;
}

/** By the cache of objects and the cache of heads. */
interface Acknowledged {
	readonly objects: boolean;
	readonly lists: boolean;
}

const EVERYTHING: Acknowledged = { objects: true, lists: true };
const NOTHING: Acknowledged = { objects: false, lists: false };

function namesOf({ objects, lists }: ChangedKeys): ChangedNames {
	return {
		...(objects && { objects }),
		...(lists && {
			lists: lists.map(({ mapping, from }) => ({
				name: listName(mapping, from),
				from,
			})),
		}),
	};
}

function publishedKeys(
	{ objects = [], lists = [] }: ChangedNames,
	acknowledged: Acknowledged = EVERYTHING,
): string[] {
	return [
		...objects.map((id) => objectKey(id, !acknowledged.objects)),
		...lists.map(({ name }) => headKey(name, !acknowledged.lists)),
	];
}

const NOT_ACKNOWLEDGED = "not_acknowledged";

function startCacheSpan(
	trace: WriteTrace | undefined,
	verb: "delete" | "tombstone",
	{ layer }: SharedCache,
	keys: number,
): Span | undefined {
	return trace?.span?.start(`${layer} ${verb}`, "client", {
		"db.system.name": layer,
		"db.operation.name": verb,
		"corkboard.cache.keys": keys,
	});
}
