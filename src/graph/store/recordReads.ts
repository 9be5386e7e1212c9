import type { CacheEntry } from "../../cache/cacheEntry.ts";
import {
	CHANGES_SLOT,
	CHANNEL_SLOTS,
	sumOfVersions,
} from "../../cache/slotVersions.ts";
import type { KeyResult } from "../../storage/rows.ts";
import {
	andThen,
	isPromise,
	type MaybePromise,
} from "../../util/maybePromise.ts";
import type {
	ReadDependencies,
	ReadStore,
	RecordedReads,
	Store,
	ViewerRecord,
} from "./store.ts";

export function recordReads(
	store: Store,
	versions: Uint32Array,
	/** Until when an answer may be used whose objects and heads end then; each call says so for now. */
	endOf: (firstEnd: number) => number,
): RecordedReads {
	const own = new SlotList(versions);
	/** Of the viewer's lists. */
	const ofViewer = new SlotList(versions);
	/** The first end of objects and heads, and of lookups. */
	let end = Number.POSITIVE_INFINITY;
	let lookupEnd = Number.POSITIVE_INFINITY;
	/** As `limitAge` says. */
	let ownEnd = Number.POSITIVE_INFINITY;
	let isWhole = true;
	/** Reads that have not ended, or failed. */
	let waits = 0;

	/** What was waited for counts if its cache knows that it was current, and nothing has changed since. */
	function addAll<Entry extends CacheEntry>(
		entries: MaybePromise<readonly KeyResult<Entry>[]>,
		addOne: (entry: Entry) => void,
	): MaybePromise<readonly KeyResult<Entry>[]> {
		const wereMissing = isPromise(entries);
		if (wereMissing) waits++;
		return andThen(entries, (entries) => {
			if (wereMissing) waits--;
			for (const entry of entries) {
				if (entry instanceof Error || (wereMissing && !isProven(entry))) {
					isWhole = false;
				} else addOne(entry);
			}
			return entries;
		});
	}

	function isProven({ proof, slot, channel }: CacheEntry): boolean {
		return proof === sumOfVersions(versions, slot, channel);
	}

	// No answer depends on these. A member of `ReadStore` that is new does not
	// compile without a place here or below.
	const { model, domain, cursors, moment, objectChanges } = store;
	const { cursorOf } = store;
	const ofNone = { model, domain, cursors, moment, objectChanges, cursorOf };

	const past = () => {
		isWhole = false;
		return store.storage;
	};

	/** A store whose reads are added to these. */
	function recordedStore<Of extends ViewerRecord | null>(
		into: SlotList,
		viewerRecord: Of,
	): ReadStore & { readonly viewerRecord: Of } {
		const addInvalidated = (entry: CacheEntry) => {
			end = Math.min(end, entry.end);
			into.add(entry);
		};
		const addLookup = (entry: CacheEntry) => {
			lookupEnd = Math.min(lookupEnd, entry.end);
			into.add(entry);
		};
		const addCached = <Entry extends CacheEntry>(entry: Entry | undefined) => {
			if (entry !== undefined) addInvalidated(entry);
			return entry;
		};
		return {
			...ofNone,
			viewerRecord,
			storage: Object.assign(new NotedStorage(), { past }),
			readObjects: (...query) =>
				addAll(store.readObjects(...query), addInvalidated),
			readHeads: (...query) =>
				addAll(store.readHeads(...query), addInvalidated),
			readLookups: (...query) => addAll(store.readLookups(...query), addLookup),
			longestLists(mapping) {
				isWhole = false;
				return store.longestLists(mapping);
			},
			cachedObject: (...query) => addCached(store.cachedObject(...query)),
			cachedHead: (...query) => addCached(store.cachedHead(...query)),
		};
	}

	const viewerRecord: ViewerRecord = {
		store: recordedStore(ofViewer, null),
		users: new Set(),
		isPersonal: false,
	};
	return {
		store: recordedStore(own, viewerRecord),
		limitAge(ms) {
			if (ms <= 0) isWhole = false;
			else ownEnd = Math.min(ownEnd, store.moment() + ms);
		},
		dependencies() {
			if (!isWhole || waits > 0) return null;
			const { users, isPersonal } = viewerRecord;
			return {
				...joined(isPersonal ? [own, ofViewer] : [own]),
				end: Math.min(endOf(end), lookupEnd, ownEnd),
				currentAt: -1,
				users: isPersonal ? null : users,
			};
		},
	};
}

/** Whatever is read past the caches, noted. Its getter is the class's: one of its own would keep the request in memory (app/requests.ts). */
class NotedStorage {
	declare readonly past: () => ReadStore["storage"];

	get map(): ReadStore["storage"]["map"] {
		return this.past().map;
	}

	readonly read: ReadStore["storage"]["read"] = (kind, keys, call) =>
		this.past().read(kind, keys, call);
}

/** Of all lists, so that an entry knows in which it is. */
let lists = 0;

/**
 * Slots of entries and of their channels, with the sum of their versions when they
 * were read. If one was read at two versions, the sum is never right again.
 */
class SlotList {
	readonly slots: number[] = [];
	sum = 0;
	readonly #versions: Uint32Array;
	readonly #number = ++lists;
	/** A bit for each channel that is there. */
	#channels = 0;

	constructor(versions: Uint32Array) {
		this.#versions = versions;
	}

	add(entry: CacheEntry): void {
		// Another request may have noted it since: then it is here twice.
		if (entry.listedIn === this.#number) return;
		entry.listedIn = this.#number;
		this.#addSlot(entry.slot);
		const bit = 1 << entry.channel;
		if ((this.#channels & bit) !== 0) return;
		this.#channels |= bit;
		this.#addSlot(CHANNEL_SLOTS + entry.channel);
	}

	#addSlot(slot: number): void {
		this.slots.push(slot);
		this.sum += this.#versions[slot] as number;
	}
}

function joined(
	lists: readonly SlotList[],
): Pick<ReadDependencies, "slots" | "sum"> {
	return {
		slots: Uint32Array.from(lists.flatMap(({ slots }) => slots)),
		sum: lists.reduce((all, { sum }) => all + sum, 0),
	};
}

/**
 * Whether all versions are still the same. Versions only rise, so their sum is
 * the same if all of them are. While nothing at all changes, one look says so.
 */
export function areCurrent(
	dependencies: ReadDependencies,
	versions: Uint32Array,
): boolean {
	const changes = versions[CHANGES_SLOT] as number;
	if (dependencies.currentAt === changes) return true;
	const { slots } = dependencies;
	let sum = 0;
	for (let at = 0; at < slots.length; at++) {
		sum += versions[slots[at] as number] as number;
	}
	if (sum !== dependencies.sum) return false;
	dependencies.currentAt = changes;
	return true;
}
