import { MAX_AGE_MS } from "../../cache/entryAges.ts";
import { KeptEntries } from "../../cache/keptEntries.ts";
import { type Moment, OVERDUE } from "../../cache/localCache.ts";
import { versionsFor } from "../../cache/slotVersions.ts";
import {
	createInvalidator,
	type Invalidator,
} from "../../freshness/invalidator.ts";
import type { ProcessCaches } from "../../freshness/processCaches.ts";
import type { ReadCaches } from "../../freshness/readSet.ts";
import type { SharedCaches } from "../../freshness/sharedCaches.ts";
import type { CursorCodec, CursorPosition } from "../../id/cursorCodec.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping, Model } from "../../model/types.ts";
import { listName } from "../../storage/keys.ts";
import type {
	KeyResult,
	ListKey,
	ListLength,
	LookupKey,
} from "../../storage/rows.ts";
import type { Storage } from "../../storage/storage.ts";
import type { CallOptions } from "../../trace.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import type { Domain } from "../domain.ts";
import type { CachedObject } from "./cachedObject.ts";
import type { Head } from "./head.ts";
import { HeadCache } from "./headCache.ts";
import { JobDeliveries } from "./jobDeliveries.ts";
import type { JobQueue, WriteEvents } from "./jobQueue.ts";
import { LongestLists } from "./longestLists.ts";
import { type CachedLookup, LookupCache } from "./lookupCache.ts";
import { ObjectCache } from "./objectCache.ts";
import { OutboxDeletions } from "./outboxDeletions.ts";

/**
 * What a viewer's requests read with: the caches in the process, and what is
 * behind them. It knows no viewer and returns deleted and hidden objects too, so
 * only `graph/` may read with it. Reads are answered at once if all is cached in
 * the process.
 */
export interface ReadStore {
	readonly model: Model;
	readonly domain: Domain;
	readonly cursors: CursorCodec;
	/** For what no cache keeps. */
	readonly storage: Pick<Storage, "map" | "read">;
	readObjects(
		ids: readonly Id[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<CachedObject>[]>;
	/** The head of each list, with at least `depth` edges or all there are: up to `DEEPEST_HEAD` from caches. */
	readHeads(
		lists: readonly ListKey[],
		depth: number,
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<Head>[]>;
	readLookups(
		keys: readonly LookupKey[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<CachedLookup>[]>;
	/** The longest lists of a mapping, the longest first, as of some minutes ago at most; UNAVAILABLE if no host answered yet. */
	longestLists(mapping: Mapping): MaybePromise<readonly ListLength[]>;
	/** Now, for calls of `cachedObject` and `cachedHead` that follow without a wait in between. */
	moment(): Moment;
	/** Rises whenever another object, or another state of one, is cached in the process, and when one is dropped. */
	objectChanges(): number;
	/** The object if it is cached in the process. */
	cachedObject(id: Id, moment?: Moment): CachedObject | undefined;
	/** The head, of any depth, if it is cached in the process. */
	cachedHead(mapping: Mapping, from: Id, moment?: Moment): Head | undefined;
	/** How what is read depends on the viewer, if that is recorded. */
	readonly viewerRecord: ViewerRecord | null;
	/** The cursor of an edge of the list. It is kept beside a cached head. If it is not kept yet, those of the edges before `end` are spelled with it. */
	cursorOf(mapping: Mapping, head: Head, at: number, end?: number): string;
}

/** Who an answer is for, noted while it is made. */
export interface ViewerRecord {
	/** The same store, for lists of the viewer that hide something: another viewer has others. */
	readonly store: ReadStore;
	/** Whom the answer shows, with what belongs to them. */
	readonly users: Set<Id>;
	/** Whether another viewer may get another answer, whatever its lists hide. */
	isPersonal: boolean;
}

interface StoreJobs {
	readonly queue: JobQueue;
	/** Null: writes enqueue none but those of the graph itself. */
	readonly events: WriteEvents | null;
	/** Delivers the jobs of writes of requests, which do not wait for it. */
	readonly deliveries: JobDeliveries;
}

export interface StoreOptions {
	readonly model: Model;
	readonly domain: Domain;
	readonly storage: Storage;
	readonly cursors: CursorCodec;
	/** Bytes that the process keeps of objects, heads, lookups and whole answers together. 0 keeps nothing. */
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

/**
 * The shards and the caches in front of them, shared by all requests of a process.
 * Its caches share one table of versions, so that one look says whether anything
 * that an answer was read from has changed (`ReadSet`).
 */
export class Store implements ReadStore, ReadCaches {
	readonly model: Model;
	readonly domain: Domain;
	readonly cursors: CursorCodec;
	/** For reads past all caches. Writes go through the write pipeline. */
	readonly storage: Storage;
	/** For the write pipeline, and who delivers for it. */
	readonly invalidator: Invalidator;
	/** For who learns what other processes changed. */
	readonly caches: ProcessCaches;
	/** Deletes delivered entries where other processes could deliver them again. */
	readonly outboxDeletions: OutboxDeletions;
	/** Where writes enqueue jobs; null if no queue is configured. */
	readonly jobs: StoreJobs | null;
	/** Whether other processes share the caches, so that the outbox entry of a write has to hold its invalidations. */
	readonly sharesCaches: boolean;
	/** Whether the process keeps anything, so that an answer can be used again. */
	readonly keepsReads: boolean;
	readonly viewerRecord = null;
	readonly versions = versionsFor(3);
	readonly objectCache: ObjectCache;
	readonly headCache: HeadCache;
	/** The cache's own: a cold list goes through as few functions as can be (test/processes/calls.test.ts). */
	readonly readHeads: HeadCache["read"];
	readonly lookupCache: LookupCache;
	readonly longestListsCache: LongestLists;

	constructor(options: StoreOptions) {
		const { model, domain, storage, cursors, cacheBytes, shared } = options;
		const { now, isOverdue, untilProven, maxAgeMs = MAX_AGE_MS } = options;
		const kept = KeptEntries.within(cacheBytes);
		const common = {
			storage,
			kept,
			versions: this.versions,
			...(now && { now }),
			...(isOverdue && { isOverdue }),
			...(untilProven && { untilProven }),
		};
		this.model = model;
		this.domain = domain;
		this.cursors = cursors;
		this.storage = storage;
		this.keepsReads = cacheBytes > 0;
		this.sharesCaches = shared !== undefined;
		this.objectCache = new ObjectCache({
			...common,
			model,
			visibility: domain.visibility,
			shared,
			maxAgeMs,
			number: 0,
		});
		this.headCache = new HeadCache({
			...common,
			shared,
			maxAgeMs,
			number: 1,
		});
		this.readHeads = this.headCache.read.bind(this.headCache);
		// A lookup changes under the outbox entry of another shard, which may be
		// unreadable when its own can be read: its age limits it.
		this.lookupCache = new LookupCache({
			...common,
			number: 2,
		});
		this.longestListsCache = new LongestLists(storage, now);
		const { invalidator, caches } = createInvalidator(
			{
				objects: this.objectCache,
				heads: this.headCache,
				lookups: this.lookupCache,
			},
			shared,
		);
		this.invalidator = invalidator;
		this.caches = caches;
		this.outboxDeletions = new OutboxDeletions(storage);
		this.jobs = jobsOf(options, this.outboxDeletions);
	}

	/** The same store with other parts: with a guarded storage, for example. */
	with(parts: Partial<Store>): Store {
		return Object.assign(Object.create(this), parts);
	}

	readObjects(
		ids: readonly Id[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<CachedObject>[]> {
		return this.objectCache.read(ids, call);
	}

	readLookups(
		keys: readonly LookupKey[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<CachedLookup>[]> {
		return this.lookupCache.read(keys, call);
	}

	longestLists(mapping: Mapping): MaybePromise<readonly ListLength[]> {
		return this.longestListsCache.read(mapping);
	}

	cachedObject(id: Id, moment?: Moment): CachedObject | undefined {
		return this.objectCache.cached(id, moment);
	}

	cachedHead(mapping: Mapping, from: Id, moment?: Moment): Head | undefined {
		return this.headCache.cached(mapping, from, moment);
	}

	moment(): Moment {
		return this.objectCache.local.moment();
	}

	objectChanges(): number {
		return this.objectCache.local.changes;
	}

	/** Until when an answer may be used again whose first object or head is too old then. While invalidations are received, that is later. */
	endOfAnswer(firstEnd: number): number {
		const ageMs = this.objectCache.local.invalidatedAgeMs;
		const now = this.moment();
		return ageMs === null || now === OVERDUE ? firstEnd : now + ageMs;
	}

	cursorOf(mapping: Mapping, head: Head, at: number, end = at + 1): string {
		const kept = head.cursor(at);
		if (kept !== undefined) return kept;
		const spelled = spellCursors(this.cursors, mapping, head, at, end);
		return spelled[0] as string;
	}
}

function jobsOf(
	{ jobQueue, writeEvents }: StoreOptions,
	outboxDeletions: OutboxDeletions,
): StoreJobs | null {
	if (jobQueue === undefined) return null;
	return {
		queue: jobQueue,
		events: writeEvents ?? null,
		deliveries: new JobDeliveries(jobQueue, outboxDeletions),
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
	const positions: CursorPosition[] = [];
	for (let edge = at; edge < last; edge++) {
		const sequence = head.sequence(edge);
		positions.push({ sequence, to: head.to(edge), epoch });
	}
	const spelled = cursors.encodeAll(listName(mapping, head.from), positions);
	let edge = at;
	for (const cursor of spelled) head.keepCursor(edge++, cursor);
	return spelled;
}
