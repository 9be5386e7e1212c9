import type { Moment } from "../../cache/localCache.ts";
import type { Invalidator } from "../../freshness/invalidator.ts";
import type { ProcessCaches } from "../../freshness/processCaches.ts";
import type { CursorCodec } from "../../id/cursorCodec.ts";
import { type Id, typeOf } from "../../id/ids.ts";
import type { Mapping, Model } from "../../model/types.ts";
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
import type { JobDeliveries } from "./jobDeliveries.ts";
import type { JobQueue, WriteEvents } from "./jobQueue.ts";
import type { CachedLookup } from "./lookupCache.ts";
import type { OutboxDeletions } from "./outboxDeletions.ts";

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
	/** How what is read depends on the viewer, where that is recorded. */
	readonly viewerRecord: ViewerRecord | null;
	/** The cursor of an edge of the list. It is kept beside a cached head. If it is not kept yet, those of the edges before `end` are spelled with it. */
	cursorOf(mapping: Mapping, head: Head, at: number, end?: number): string;
}

/** The shards and the caches in front of them, shared by all requests of a process. */
export interface Store extends ReadStore {
	/** For reads past all caches. Writes go through the write pipeline. */
	readonly storage: Storage;
	/** For the write pipeline, and who delivers for it. */
	readonly invalidator: Invalidator;
	/** For who learns what other processes changed. */
	readonly caches: ProcessCaches;
	/** Of delivered entries, where other processes could deliver them again. */
	readonly outboxDeletions: OutboxDeletions;
	/** Where writes enqueue jobs; null where no queue is configured. */
	readonly jobs: StoreJobs | null;
	/** Records what one request reads, so that its answer can be used again for as long as that is valid; null if nothing is cached in the process, so that none can. */
	recordReads(): RecordedReads | null;
	/** Whether a request would now read the same: nothing that was recorded was invalidated or is bypassed, and the answer is not too old. */
	isValid(dependencies: ReadDependencies): boolean;
	/** Whether other processes share the caches, so that the outbox entry of a write has to hold its invalidations. */
	readonly sharesCaches: boolean;
}

/**
 * What an answer was read from: values that the process may cache. The answer
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
	/**
	 * For any viewer the answer is the same whose lists hide none of these users.
	 * What was read of the viewer's own lists is then not among the entries. Null:
	 * it is for its viewer alone.
	 */
	readonly users: ReadonlySet<Id> | null;
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

/** The reads of one request, recorded. */
export interface RecordedReads {
	/** The same store. What is read with it is recorded. */
	readonly store: ReadStore & { readonly viewerRecord: ViewerRecord };
	/** What was read is good for so many more milliseconds, whatever the caches say; with 0, for this answer only. */
	limitAge(ms: number): void;
	/**
	 * What was read so far; null if some of it cannot be invalidated (read past the
	 * caches, behind a head, or an error), or may have been while it was read. The
	 * answer is then not to be used again.
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

export function typeNameOf(model: Model, id: Id): string | null {
	return model.objectsByNumber.get(typeOf(id))?.name ?? null;
}
