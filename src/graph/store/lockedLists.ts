import { listName } from "../../storage/keys.ts";
import type { ListKey, TransactionReads } from "../../storage/rows.ts";

/** Each list once: the lists that a transaction has to lock. */
export function distinctLists(lists: Iterable<ListKey>): readonly ListKey[] {
	const distinct = new Map<string, ListKey>();
	for (const { mapping, from } of lists) {
		distinct.set(listName(mapping, from), { mapping, from });
	}
	return [...distinct.values()];
}

/** The last sequence of each list that a transaction locked, by `listName`. Callers raise it as they add edges. */
export function lastSequencesOf(
	locked: readonly ListKey[],
	reads: Pick<TransactionReads, "lists">,
): Map<string, number> {
	return new Map(
		locked.map(({ mapping, from }, at) => [
			listName(mapping, from),
			reads.lists[at]?.lastSequence ?? 0,
		]),
	);
}
