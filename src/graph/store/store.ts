import type { Moment } from "../../cache/localCache.ts";
import type { SharedCache } from "../../cache/sharedCache.ts";
import type {
	CallOptions,
	LocalCacheLevel,
	WriteTrace,
} from "../../diagnostics.ts";
import type { CursorCodec } from "../../id/cursorCodec.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { Mapping, Model } from "../../model/types.ts";
import type {
	KeyResult,
	ListKey,
	ListLength,
	LookupChange,
	LookupKey,
	LookupRow,
	Storage,
} from "../../storage/storage.ts";
import type { ChangedShards } from "../../topology/ranges.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import type { Domain } from "../domain.ts";
import type { CachedObject } from "./cachedObject.ts";
import type { Head } from "./head.ts";
import type { JobDeliveries } from "./jobDeliveries.ts";
import type { JobQueue, WriteEvents } from "./jobQueue.ts";
import type { CachedLookup } from "./lookupCache.ts";
import type { OutboxDeletions } from "./outboxDeletions.ts";

/**
 * The shards and the caches in front of them, shared by all requests of a
 * process. It knows no viewer and returns deleted and hidden objects too, so only
 * `graph/` may read with it. Reads are answered at once if all is cached in the
 * process.
 */
export interface Store {
	readonly model: Model;
	readonly domain: Domain;
	/** For reads past all caches. Writes go through the write pipeline. */
	readonly storage: Storage;
	readonly cursors: CursorCodec;
	/** Of delivered entries, where other processes could deliver them again. */
	readonly outboxDeletions: OutboxDeletions;
	/** Where writes enqueue jobs; null where no queue is configured. */
	readonly jobs: StoreJobs | null;
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
	/** Records what one request reads, so that its answer can be used again for as long as that is valid; null if nothing is cached in the process, so that none can. */
	recordReads(): RecordedReads | null;
	/** Whether a request would now read the same: nothing that was recorded was invalidated or is bypassed, and the answer is not too old. */
	isValid(dependencies: ReadDependencies): boolean;
	/** The cursor of an edge of the list. It is kept beside a cached head. If it is not kept yet, those of the edges before `end` are spelled with it. */
	cursorOf(mapping: Mapping, head: Head, at: number, end?: number): string;

	/**
	 * Keeps edges behind a head beside it, until the list changes. The head is the
	 * one that was cached in the process before they were read: if it still is, the
	 * list was not invalidated meanwhile.
	 */
	keepPage(mapping: Mapping, head: Head, key: string, page: Head): void;

	/** Whether other processes share the caches, so that the outbox entry of a write has to hold its invalidations. */
	readonly sharesCaches: boolean;
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
	/** While on, nothing is cached in the process: for as long as invalidations of other processes are not received. */
	bypass(on: boolean): void;
	/** While on, what is cached in the process lives ten seconds at most. */
	limitAge(on: boolean): void;
	/** Reads objects and heads of these shards past the cache in the process, until the next call; null for none. */
	bypassShards(shards: ReadonlySet<number> | null): void;
	/** How full the caches in the process are. */
	levels(): readonly LocalCacheLevel[];
	/** As storage's, and drops the cached rows. */
	compareAndSetLookups(
		changes: readonly LookupChange[],
		trace?: WriteTrace,
	): Promise<readonly KeyResult<LookupRow | null>[]>;
}

/**
 * What an answer was read from: entries of the caches in the process. The answer
 * is good for as long as none of them was invalidated, and as long as an entry
 * lives; where age alone bounds what is stale, until the first is too old.
 */
export interface ReadDependencies {
	/** Of the table of versions. */
	readonly slots: Uint32Array;
	/** Of their versions. */
	readonly sum: number;
	/** When the answer is too old, on the clock of the caches. */
	readonly end: number;
	/** How many changes the table had seen when the sum was last found to be right; -1 before. */
	currentAt: number;
}

/** The reads of one request, recorded. */
export interface RecordedReads {
	/** The same store. What is read with it is recorded. */
	readonly store: Store;
	/** What was read is good for so many more milliseconds, whatever the caches say; with 0, for this answer only. */
	limitAge(ms: number): void;
	/**
	 * What was read so far; null if some of it was not in the process, or cannot be
	 * invalidated: read past the caches, behind a head, or an error. The answer is
	 * then not to be used again.
	 */
	dependencies(): ReadDependencies | null;
}

export interface StoreJobs {
	readonly queue: JobQueue;
	/** Null: writes enqueue none but those of the graph itself. */
	readonly events: WriteEvents | null;
	/** Of writes of requests, which do not wait for it. */
	readonly deliveries: JobDeliveries;
}

export interface ChangedKeys {
	readonly objects?: readonly Id[];
	readonly lists?: readonly ListKey[];
}

/** The caches that processes share. */
export interface SharedCaches {
	readonly objects: SharedCache | null;
	readonly heads: SharedCache | null;
	/** Makes other processes drop these keys from the caches in them. Whether Redis took them; true where there are no others. Never rejects. */
	readonly publish: (keys: readonly string[]) => Promise<boolean>;
	/** Whether all that was published of these keys was taken, after waiting for that at most so long. */
	readonly untilPublished: (
		keys: readonly string[],
		ms: number,
	) => Promise<boolean>;
	/** Rises when a shard moves or its primary changes; values cached before that are not read any more. */
	readonly generationOf: (
		shard: number,
		/** By its name, for its lists: feed lists may be on another host than their shard. */
		mapping?: string,
	) => number | string;
}

export function typeNameOf(model: Model, id: Id): string | null {
	return model.objectsByNumber.get(unpackId(id).type)?.name ?? null;
}
