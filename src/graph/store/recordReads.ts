import type { CacheEntry } from "../../cache/cacheEntry.ts";
import type { ReadDependencies, RecordedReads, Store } from "./store.ts";

export function recordReads(
	store: Store,
	versions: Uint32Array,
): RecordedReads {
	/** By slot, the version when it was read. */
	const slots = new Map<number, number>();
	let end = Number.POSITIVE_INFINITY;
	let isWhole = true;

	function add<Entry extends CacheEntry>(
		entry: Entry | undefined,
	): Entry | undefined {
		if (entry === undefined) return undefined;
		const { slot } = entry;
		const version = versions[slot] as number;
		const before = slots.get(slot);
		if (before === undefined) slots.set(slot, version);
		// Something changed while the answer was made.
		else if (before !== version) isWhole = false;
		end = Math.min(end, entry.end);
		return entry;
	}

	return {
		store: {
			...store,
			// Whatever is read past the caches, or into them, began before it is known to be valid.
			get storage() {
				isWhole = false;
				return store.storage;
			},
			readObjects(...query) {
				isWhole = false;
				return store.readObjects(...query);
			},
			readHeads(...query) {
				isWhole = false;
				return store.readHeads(...query);
			},
			readLookups(...query) {
				isWhole = false;
				return store.readLookups(...query);
			},
			cachedObject: (...query) => add(store.cachedObject(...query)),
			cachedHead: (...query) => add(store.cachedHead(...query)),
			cachedLookup: (...query) => add(store.cachedLookup(...query)),
		},
		dependencies() {
			if (!isWhole) return null;
			const pairs = new Uint32Array(slots.size * 2);
			let at = 0;
			for (const [slot, version] of slots) {
				pairs[at++] = slot;
				pairs[at++] = version;
			}
			return { versions: pairs, end };
		},
	};
}

/** Whether all versions are still the same. */
export function areCurrent(
	{ versions }: ReadDependencies,
	current: Uint32Array,
): boolean {
	for (let at = 0; at < versions.length; at += 2) {
		if (current[versions[at] as number] !== versions[at + 1]) return false;
	}
	return true;
}
