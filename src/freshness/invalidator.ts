import type { Id } from "../id/ids.ts";
import { lookupName } from "../storage/keys.ts";
import type { ListKey, LookupKey } from "../storage/rows.ts";
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
import {
	type DroppingCaches,
	dropLocally,
	type ProcessCaches,
	processCachesOf,
} from "./processCaches.ts";
import { lookupKey } from "./publishedKeys.ts";
import type { SharedCaches } from "./sharedCaches.ts";
import { SharedInvalidations } from "./sharedInvalidations.ts";

/** What a write of this process does so that nobody reads from a cache what it replaced. */
export interface Invalidator {
	/** The host of the shared cache that holds an object or a list's head, as `host:port`; null without such a cache. */
	cacheHostOf(key: Id | ListKey): string | null;
	/** After COMMIT: drops the keys from all caches, `OWN_DROPS` times here, and in other processes. Returns whether the shared caches acknowledged and Redis took the publication. From the call on, this process reads no old value, acknowledged or not. */
	invalidate(changed: ChangedKeys, trace?: WriteTrace): Promise<boolean>;
	/** Whether the shared caches acknowledged all invalidations of these keys and Redis took what was published of them, after waiting for that at most so long. */
	untilInvalidated(changed: ChangedKeys, ms: number): Promise<boolean>;
	/** Drops the keys from the caches in this process. */
	invalidateLocally(changed: ChangedKeys): void;
	/** Drops published keys here and publishes them. Returns whether Redis took them. */
	announce(keys: readonly string[]): Promise<boolean>;
	/** Drops the rows from the cache in this process, and makes the others drop theirs. */
	invalidateLookups(keys: readonly LookupKey[]): void;
}

/** How often a write drops its keys here: before the delete in a shared cache, and after it, since a read that began before it may have ended meanwhile. */
export const OWN_DROPS = 2;

/**
 * The invalidation protocol (docs/consistency.md, "3. Caches"). The steps of a
 * write, after COMMIT:
 *
 * 1. Drop the keys in this process, delete them in the shared caches, drop them
 *    in this process again, and publish them to the other processes, which drop
 *    theirs. The delete also removes the leases of those who read before COMMIT.
 * 2. A shared cache that does not acknowledge a delete may hold the old value.
 *    This process reads those keys past it until it does, and so does each
 *    process that receives the publication: it asks them to delete the keys too.
 *
 * If a writer did not get so far, the process that finds its outbox entry does step
 * 2 for it (outboxWatch.ts).
 *
 * Deletes come before the publication: a process that received it first could read
 * the old value back from a shared cache, and keep it. If one Redis has the heads
 * and the channels, both go there in this order in one message.
 */
export function createInvalidator(
	local: DroppingCaches,
	shared: SharedCaches | undefined,
): { readonly invalidator: Invalidator; readonly caches: ProcessCaches } {
	const inShared = new SharedInvalidations(shared);

	/** Returns what the shared caches acknowledged. */
	async function drop(
		changed: ChangedNames,
		trace?: WriteTrace,
	): Promise<Acknowledged> {
		dropLocally(local, changed);
		const acknowledged = await inShared.delete(changed, trace);
		// A read that began before the delete may have ended meanwhile.
		dropLocally(local, changed);
		return acknowledged;
	}

	function publishKeys(keys: readonly string[]): MaybePromise<boolean> {
		return keys.length === 0 || shared === undefined || shared.publish(keys);
	}

	// Not published again: the sender asked every process.
	const caches = processCachesOf(local, (changed) => void drop(changed));
	const invalidator: Invalidator = {
		cacheHostOf: (key) => inShared.hostOf(key),

		async invalidate(changed, trace) {
			const names = namesOf(changed);
			const together = inShared.deleteAndPublish(
				names,
				publishedKeys(names, ACKNOWLEDGED),
				trace,
			);
			if (together !== null) {
				dropLocally(local, names);
				const { isDeleted, isPublished } = await together;
				// A read that began before the delete may have ended meanwhile.
				dropLocally(local, names);
				if (isDeleted) return isPublished;
				await publishKeys(publishedKeys(names, UNACKNOWLEDGED));
				return false;
			}
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

		invalidateLocally: (changed) => dropLocally(local, namesOf(changed)),

		async announce(keys) {
			caches.applyInvalidations(keys);
			return publishKeys(keys);
		},

		invalidateLookups(keys) {
			for (const key of keys) local.lookups.invalidate(lookupName(key));
			void publishKeys(keys.map(lookupKey));
		},
	};
	return { invalidator, caches };
}
