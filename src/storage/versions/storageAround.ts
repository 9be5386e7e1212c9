import type { Storage } from "../storage.ts";

/** Storage that does as another one, but for what it does in its own way. */
export function storageAround(inner: Storage, own: Partial<Storage>): Storage {
	return {
		get map() {
			return inner.map;
		},
		read: (kind, keys, call) => inner.read(kind, keys, call),
		transact: (transaction, trace) => inner.transact(transaction, trace),
		compareAndSetLookups: (changes, trace) =>
			inner.compareAndSetLookups(changes, trace),
		pendingEntries: (query) => inner.pendingEntries(query),
		takeEntries: (entries, until, trace) =>
			inner.takeEntries(entries, until, trace),
		recordFailedDeliveries: (failures, trace) =>
			inner.recordFailedDeliveries(failures, trace),
		deleteOutboxEntries: (keys, trace) =>
			inner.deleteOutboxEntries(keys, trace),
		walk: (kind, ...of) => inner.walk(kind, ...of),
		[Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
		...own,
	};
}
