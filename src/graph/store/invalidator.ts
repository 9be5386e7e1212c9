import type { SharedCache } from "../../cache/sharedCache.ts";
import type { WriteTrace } from "../../diagnostics.ts";
import type { Id } from "../../id/ids.ts";
import { listName, lookupName } from "../../storage/keys.ts";
import type { ListKey, LookupKey } from "../../storage/storage.ts";
import type { HeadCache } from "./headCache.ts";
import type { LookupCache } from "./lookupCache.ts";
import type { ObjectCache } from "./objectCache.ts";
import { sharedKey } from "./sharedKey.ts";
import type { ChangedKeys, SharedCaches, Store } from "./store.ts";

/** The part of a store that drops cached values, and what lookups need of it. */
export interface Invalidator
	extends Pick<
		Store,
		| "putTombstones"
		| "invalidateLocally"
		| "publish"
		| "invalidate"
		| "applyInvalidations"
		| "invalidateAll"
		| "bypass"
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
 *
 * Published keys carry their kind: `o ID` an object, `h MAPPING ID` a head,
 * `l NAME KEY` a lookup.
 */
export function createInvalidator(
	caches: {
		readonly objects: ObjectCache;
		readonly heads: HeadCache;
		readonly lookups: LookupCache;
	},
	shared: SharedCaches | undefined,
): Invalidator {
	const objects = caches.objects.local;
	const heads = caches.heads.local;
	const lookups = caches.lookups.local;

	/** Returns whether all shared caches acknowledged. */
	async function inSharedCaches(
		verb: "tombstone" | "delete",
		{ objects: ids = [], lists = [] }: ChangedKeys,
		trace: WriteTrace | undefined,
	): Promise<boolean> {
		if (shared === undefined) return true;
		const send = async (cache: SharedCache | null, keys: readonly string[]) => {
			if (cache === null || keys.length === 0) return true;
			const acknowledged =
				verb === "tombstone"
					? await cache.putTombstones(keys)
					: await cache.delete(keys);
			trace?.cache(verb, cache.layer, keys.length, acknowledged);
			return acknowledged;
		};
		const objectKeys = ids.map((id) => sharedKey(shared, id, id));
		const headKeys = lists.map(({ mapping, from }) =>
			sharedKey(shared, from, listName(mapping, from)),
		);
		const acknowledged = await Promise.all([
			send(shared.objects, objectKeys),
			send(shared.heads, headKeys),
		]);
		return acknowledged.every(Boolean);
	}

	function invalidateLocally({ objects: ids = [], lists = [] }: ChangedKeys) {
		for (const id of ids) objects.invalidate(id);
		for (const list of lists) heads.invalidate(nameOf(list));
	}

	function publish({ objects: ids = [], lists = [] }: ChangedKeys): void {
		publishKeys([
			...ids.map((id: Id) => `o ${id}`),
			...lists.map((list) => `h ${nameOf(list)}`),
		]);
	}

	function publishKeys(keys: readonly string[]): void {
		if (keys.length > 0) shared?.publish(keys);
	}

	return {
		putTombstones: (changed, trace) =>
			inSharedCaches("tombstone", changed, trace),
		invalidateLocally,
		publish,

		async invalidate(changed, trace) {
			invalidateLocally(changed);
			const acknowledged = await inSharedCaches("delete", changed, trace);
			// If a tombstone was not acknowledged, a read since then may have taken
			// the old value from a shared cache.
			invalidateLocally(changed);
			publish(changed);
			return acknowledged;
		},

		invalidateLookups(keys) {
			const names = keys.map(lookupName);
			for (const name of names) lookups.invalidate(name);
			publishKeys(names.map((name) => `l ${name}`));
		},

		applyInvalidations(keys) {
			for (const key of keys) {
				const name = key.slice(2);
				if (key.startsWith("o ")) objects.invalidate(name);
				else if (key.startsWith("h ")) heads.invalidate(name);
				else if (key.startsWith("l ")) lookups.invalidate(name);
			}
		},

		invalidateAll() {
			for (const cache of [objects, heads, lookups]) cache.invalidateAll();
		},

		bypass(on) {
			for (const cache of [objects, heads, lookups]) cache.bypass(on);
		},
	};
}

function nameOf({ mapping, from }: ListKey): string {
	return listName(mapping, from);
}
