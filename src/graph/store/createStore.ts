import { MAX_AGE_MS } from "../../cache/entryAges.ts";
import { OVERDUE } from "../../cache/localCache.ts";
import { versionsFor } from "../../cache/slotVersions.ts";
import { createInvalidator } from "../../freshness/invalidator.ts";
import type { SharedCaches } from "../../freshness/sharedCaches.ts";
import type { CursorCodec } from "../../id/cursorCodec.ts";
import type { Mapping, Model } from "../../model/types.ts";
import { listName } from "../../storage/keys.ts";
import type { Storage } from "../../storage/storage.ts";
import type { Domain } from "../domain.ts";
import type { Head } from "./head.ts";
import { createHeadCache } from "./headCache.ts";
import { JobDeliveries } from "./jobDeliveries.ts";
import type { JobQueue, WriteEvents } from "./jobQueue.ts";
import { createLongestLists } from "./longestLists.ts";
import { createLookupCache } from "./lookupCache.ts";
import { createObjectCache } from "./objectCache.ts";
import { OutboxDeletions } from "./outboxDeletions.ts";
import { areCurrent, recordReads } from "./recordReads.ts";
import type { Store } from "./store.ts";

export interface GraphStoreOptions {
	readonly model: Model;
	readonly domain: Domain;
	readonly storage: Storage;
	readonly cursors: CursorCodec;
	/** Bytes cached in the process: half for objects, three eighths for heads, one eighth for lookups. 0 caches nothing. */
	readonly cacheBytes: number;
	readonly shared?: SharedCaches;
	/** Absent: writes enqueue no jobs. */
	readonly jobQueue?: JobQueue;
	/** Absent: writes enqueue none but those of the graph itself. */
	readonly writeEvents?: WriteEvents;
	/** The clock by which cached entries age. Milliseconds. */
	readonly now?: () => number;
	/** How long objects and heads are cached in the process if nothing invalidates them. Milliseconds. */
	readonly maxAgeMs?: number;
	/** Whether invalidations of other processes may lie unread (`InvalidationChannel.isOverdue`). */
	readonly isOverdue?: () => boolean;
	/** Settles when that is over. Absent: reads do not wait for it. */
	readonly untilProven?: () => Promise<void>;
}

export function createStore(options: GraphStoreOptions): Store {
	const { model, domain, storage, cursors, cacheBytes, shared } = options;
	const { now, isOverdue, untilProven, maxAgeMs = MAX_AGE_MS } = options;
	const outboxDeletions = new OutboxDeletions(storage);
	const freshness = {
		...(now && { now }),
		...(isOverdue && { isOverdue }),
		...(untilProven && { untilProven }),
	};
	const versions = versionsFor(3);
	const objects = createObjectCache({
		model,
		visibility: domain.visibility,
		storage,
		shared,
		maxWeight: cacheBytes / 2,
		maxAgeMs,
		versions,
		number: 0,
		...freshness,
	});
	const heads = createHeadCache({
		storage,
		shared,
		maxWeight: (cacheBytes * 3) / 8,
		maxAgeMs,
		versions,
		number: 1,
		...freshness,
	});
	// A lookup changes under the outbox entry of another shard, which may be
	// unreadable when its own can be read: its age limits it.
	const lookups = createLookupCache({
		storage,
		maxWeight: cacheBytes / 8,
		versions,
		number: 2,
		...freshness,
	});
	const { invalidator, caches } = createInvalidator(
		{ objects, heads, lookups },
		shared,
	);
	const moment = () => objects.local.moment();
	const endOfAnswer = (firstEnd: number) => {
		const ageMs = objects.local.invalidatedAgeMs;
		const now = moment();
		return ageMs === null || now === OVERDUE ? firstEnd : now + ageMs;
	};
	return {
		model,
		domain,
		storage,
		cursors,
		invalidator,
		caches,
		outboxDeletions,
		jobs:
			options.jobQueue === undefined
				? null
				: {
						queue: options.jobQueue,
						events: options.writeEvents ?? null,
						deliveries: new JobDeliveries(options.jobQueue, outboxDeletions),
					},
		sharesCaches: shared !== undefined,
		readObjects: objects.read,
		readHeads: heads.read,
		readLookups: lookups.read,
		longestLists: createLongestLists(storage, now),
		moment,
		objectChanges: () => objects.local.changes,
		cachedObject: objects.cached,
		cachedHead: heads.cached,
		viewerRecord: null,
		recordReads() {
			return cacheBytes > 0 ? recordReads(this, versions, endOfAnswer) : null;
		},
		isValid: (dependencies) =>
			moment() < dependencies.end && areCurrent(dependencies, versions),
		cursorOf(mapping, head, at, end = at + 1) {
			const kept = head.cursor(at);
			if (kept !== undefined) return kept;
			const spelled = spellCursors(cursors, mapping, head, at, end);
			return spelled[0] as string;
		},
	};
}

/** Cursors of the edges from one index up to another one, kept beside the head. */
function spellCursors(
	cursors: CursorCodec,
	mapping: Mapping,
	head: Head,
	at: number,
	end: number,
): readonly string[] {
	const { epoch } = head;
	// Often the last one is the end cursor of the page, and is kept.
	const last = head.cursor(end - 1) === undefined ? end : end - 1;
	const spelled = cursors.encodeAll(
		listName(mapping, head.from),
		head.slice(at, last).map((position) => ({ ...position, epoch })),
	);
	for (const [offset, cursor] of spelled.entries()) {
		head.keepCursor(at + offset, cursor);
	}
	return spelled;
}
