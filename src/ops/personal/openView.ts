import { CorkboardError } from "../../errors.ts";
import { View } from "../../graph/read/view.ts";
import { CachedObject } from "../../graph/store/cachedObject.ts";
import type { ReadStore, Store } from "../../graph/store/store.ts";
import type { Id } from "../../id/ids.ts";
import { andThen } from "../../util/maybePromise.ts";

/** The graph as the user sees it, and would see it if the account was not closed. */
export function openView(
	store: Store,
	user: Id,
	/** The stored key that says since when an account is closed; null: none can be. */
	closedKey: string | null,
): View {
	return new View(
		closedKey === null ? store : withOpenAccount(store, user, closedKey),
		user,
	);
}

function withOpenAccount(store: Store, user: Id, closedKey: string): ReadStore {
	const opened = (object: CachedObject): CachedObject => {
		const { node } = object;
		if (node?.id !== user || !(closedKey in node.data)) return object;
		const { [closedKey]: _, ...data } = node.data;
		const open = { ...node, data };
		return CachedObject.unstored({
			node: open,
			facts: store.domain.visibility.factsOf(open),
		});
	};
	return {
		model: store.model,
		domain: store.domain,
		cursors: store.cursors,
		storage: store.storage,
		viewerRecord: null,
		readObjects: (ids, call) =>
			andThen(store.readObjects(ids, call), (objects) =>
				objects.map((object) =>
					object instanceof CorkboardError ? object : opened(object),
				),
			),
		readHeads: store.readHeads,
		readLookups: (keys, call) => store.readLookups(keys, call),
		longestLists: (mapping) => store.longestLists(mapping),
		moment: () => store.moment(),
		objectChanges: () => store.objectChanges(),
		cachedObject(id, moment) {
			const object = store.cachedObject(id, moment);
			return object && opened(object);
		},
		cachedHead: (mapping, from, moment) =>
			store.cachedHead(mapping, from, moment),
		cursorOf: (mapping, head, at, end) =>
			store.cursorOf(mapping, head, at, end),
	};
}
