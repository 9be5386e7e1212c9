import type { Moment } from "../../cache/localCache.ts";
import { ReadSet } from "../../freshness/readSet.ts";
import type { CursorCodec } from "../../id/cursorCodec.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping, Model } from "../../model/types.ts";
import type {
	KeyResult,
	ListKey,
	ListLength,
	LookupKey,
} from "../../storage/rows.ts";
import type { CallOptions } from "../../trace.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import type { Domain } from "../domain.ts";
import type { CachedObject } from "./cachedObject.ts";
import type { Head } from "./head.ts";
import type { CachedLookup } from "./lookupCache.ts";
import type { ReadStore, Store, ViewerRecord } from "./store.ts";

/** What an answer was read from, and who may get it. */
export interface ReadDependencies {
	readonly reads: ReadSet;
	/**
	 * For any viewer the answer is the same whose lists hide none of these users.
	 * What was read of the viewer's own lists is then not in the set. Null: it is
	 * for its viewer alone.
	 */
	readonly users: ReadonlySet<Id> | null;
}

/** The reads of one request, recorded, so that its answer can be used again for as long as that is valid. */
export class RecordedReads {
	/** The same store. What is read with it is recorded. */
	readonly store: ReadStore & { readonly viewerRecord: ViewerRecord };
	readonly #store: Store;
	readonly #reads: ReadSet;
	/** What was read of the viewer's lists. */
	readonly #viewerReads: ReadSet;

	/** Null if nothing is cached in the process, so that no answer can be used again. */
	static of(store: Store): RecordedReads | null {
		return store.keepsReads ? new RecordedReads(store) : null;
	}

	private constructor(store: Store) {
		this.#store = store;
		this.#reads = new ReadSet(store);
		this.#viewerReads = new ReadSet(store);
		this.store = new RecordingStore<ViewerRecord>(store, this.#reads, {
			store: new RecordingStore(store, this.#viewerReads, null),
			users: new Set(),
			isPersonal: false,
		});
	}

	/** What was read is good for so many more milliseconds, whatever the caches say; with 0, for this answer only. */
	limitAge(ms: number): void {
		if (ms <= 0) this.#reads.addUnknown();
		else this.#reads.limitEnd(this.#store.moment() + ms);
	}

	/**
	 * What was read, asked once when all is; null if some of it cannot be invalidated (read past
	 * the caches, behind a head, or an error), or may have been while it was read. The
	 * answer is then not to be used again.
	 */
	dependencies(): ReadDependencies | null {
		const { users, isPersonal } = this.store.viewerRecord;
		const reads = this.#reads;
		if (isPersonal) reads.addAll(this.#viewerReads);
		else reads.limitBy(this.#viewerReads);
		return reads.seal() ? { reads, users: isPersonal ? null : users } : null;
	}
}

/** A store whose reads are added to a set. A member of `ReadStore` that is new does not compile without a place here. */
class RecordingStore<Viewer extends ViewerRecord | null> implements ReadStore {
	readonly model: Model;
	readonly domain: Domain;
	readonly cursors: CursorCodec;
	readonly storage: RecordingStorage;
	readonly viewerRecord: Viewer;
	readonly #store: Store;
	readonly #reads: ReadSet;

	constructor(store: Store, reads: ReadSet, viewerRecord: Viewer) {
		this.model = store.model;
		this.domain = store.domain;
		this.cursors = store.cursors;
		this.storage = new RecordingStorage(store.storage, reads);
		this.viewerRecord = viewerRecord;
		this.#store = store;
		this.#reads = reads;
	}

	readObjects(
		ids: readonly Id[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<CachedObject>[]> {
		return this.#reads.addRead(this.#store.readObjects(ids, call));
	}

	readHeads(
		lists: readonly ListKey[],
		depth: number,
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<Head>[]> {
		return this.#reads.addRead(this.#store.readHeads(lists, depth, call));
	}

	readLookups(
		keys: readonly LookupKey[],
		call?: CallOptions,
	): MaybePromise<readonly KeyResult<CachedLookup>[]> {
		return this.#reads.addRead(this.#store.readLookups(keys, call), "lookup");
	}

	longestLists(mapping: Mapping): MaybePromise<readonly ListLength[]> {
		this.#reads.addUnknown();
		return this.#store.longestLists(mapping);
	}

	cachedObject(id: Id, moment?: Moment): CachedObject | undefined {
		const object = this.#store.cachedObject(id, moment);
		if (object !== undefined) this.#reads.add(object);
		return object;
	}

	cachedHead(mapping: Mapping, from: Id, moment?: Moment): Head | undefined {
		const head = this.#store.cachedHead(mapping, from, moment);
		if (head !== undefined) this.#reads.add(head);
		return head;
	}

	// No answer depends on these.

	moment(): Moment {
		return this.#store.moment();
	}

	objectChanges(): number {
		return this.#store.objectChanges();
	}

	cursorOf(mapping: Mapping, head: Head, at: number, end?: number): string {
		return this.#store.cursorOf(mapping, head, at, end);
	}
}

/** Notes that something was read past the caches. */
class RecordingStorage implements Pick<Store["storage"], "map" | "read"> {
	readonly #storage: Store["storage"];
	readonly #reads: ReadSet;

	constructor(storage: Store["storage"], reads: ReadSet) {
		this.#storage = storage;
		this.#reads = reads;
	}

	get map(): Store["storage"]["map"] {
		this.#reads.addUnknown();
		return this.#storage.map;
	}

	readonly read: Store["storage"]["read"] = (kind, keys, call) => {
		this.#reads.addUnknown();
		return this.#storage.read(kind, keys, call);
	};
}
