import type { ListKey, TransactionReads } from "../../storage/storage.ts";
import { listKey } from "./store.ts";

/** Each list once: those a transaction has to lock. */
export function distinctLists(lists: Iterable<ListKey>): readonly ListKey[] {
	const distinct = new Map<string, ListKey>();
	for (const { mapping, from } of lists) {
		distinct.set(listKey({ mapping, from }), { mapping, from });
	}
	return [...distinct.values()];
}

/** The last sequence of each list a transaction has locked, by `listKey`: it rises as edges are placed. */
export function lastSequencesOf(
	locked: readonly ListKey[],
	seen: Pick<TransactionReads, "lists">,
): Map<string, number> {
	return new Map(
		locked.map((list, at) => [
			listKey(list),
			seen.lists[at]?.lastSequence ?? 0,
		]),
	);
}
