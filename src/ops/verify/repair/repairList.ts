import type { Store } from "../../../graph/store/store.ts";
import { WritePipeline } from "../../../graph/write/pipeline.ts";
import { shardOfList } from "../../../storage/feedShards.ts";
import type { Edge, EdgeKey, ListKey } from "../../../storage/rows.ts";
import { hasSoundNumbers } from "../references.ts";

/** Counts a list's edges under its lock, and writes the list's row. */
export async function repairListCount(
	store: Store,
	list: ListKey,
): Promise<void> {
	await new WritePipeline(store).transact({
		shard: shardOfList(list, store.storage),
		lists: [list],
		decide: () => ({ result: null, recount: [list] }),
	});
}

/** Replaces an edge whose numbers do not exist, under its list's lock: no version can be compared with its own. */
export async function overwriteEdge(
	store: Store,
	{ mapping, from, to }: EdgeKey,
	{ state, version, sequence }: Pick<Edge, "state" | "version" | "sequence">,
): Promise<void> {
	const list = { mapping, from };
	await new WritePipeline(store).transact({
		shard: shardOfList(list, store.storage),
		lists: [list],
		edges: [{ mapping, from, to }],
		decide({ edges: [old = null] }) {
			if (old === null || hasSoundNumbers(old)) return { result: null };
			return {
				result: null,
				edges: [{ mapping, from, to, state, version, sequence }],
				// What the damaged edge counted as is not known.
				recount: [list],
			};
		},
	});
}
