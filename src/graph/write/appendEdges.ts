import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { shardOfList } from "../../storage/feedShards.ts";
import { PRESENT } from "../../storage/rows.ts";
import { nextSequence } from "../outbox/sequences.ts";
import type { WritePipeline } from "./pipeline.ts";

/**
 * Adds edges at the newest end of a list, in one transaction: of these the first
 * one given is the newest. An edge that is there, or was and is removed, stays as it is.
 * Returns those that were added. The mapping has no inverse.
 *
 * Positions are taken under the list's lock, above all there are, so a reader that
 * pages through the list meets none of the new edges below its cursor.
 */
export async function appendEdges(
	pipeline: WritePipeline,
	mapping: Mapping,
	from: Id,
	tos: readonly Id[],
): Promise<readonly Id[]> {
	if (mapping.inverse !== null) {
		throw new TypeError(`${mapping.name} has an inverse, which this skips.`);
	}
	if (tos.length === 0) return [];
	const { result } = await pipeline.write<readonly Id[]>({
		shard: shardOfList({ mapping, from }, pipeline.store.storage),
		lists: [{ mapping, from }],
		edges: tos.map((to) => ({ mapping, from, to })),
		decide(reads) {
			const added = tos.filter((_, at) => (reads.edges[at] ?? null) === null);
			const lowest = nextSequence(reads.lists[0]?.lastSequence ?? 0, reads.now);
			return {
				result: added,
				edges: added.map((to, at) => ({
					mapping,
					from,
					to,
					state: PRESENT,
					version: 1,
					sequence: lowest + added.length - 1 - at,
				})),
			};
		},
	});
	return result;
}

/**
 * Adds edges at the oldest end of a list that is ordered by time, in one
 * transaction, in their order. `last` is the edge that ended the list when it was
 * read. If the list does not end there any more, nothing is added, and null is
 * returned; else those that were added. An edge that is there, or was and is
 * removed, stays as it is. The mapping has no inverse.
 *
 * Positions are taken under the list's lock, below all there are, so a reader that
 * pages through the list meets the new edges behind its cursor, once.
 */
export async function continueList(
	pipeline: WritePipeline,
	mapping: Mapping,
	from: Id,
	last: Id,
	tos: readonly Id[],
): Promise<readonly Id[] | null> {
	if (mapping.inverse !== null) {
		throw new TypeError(`${mapping.name} has an inverse, which this skips.`);
	}
	const end = { mapping, from, to: last };
	const { result } = await pipeline.write<readonly Id[] | null>({
		shard: shardOfList({ mapping, from }, pipeline.store.storage),
		lists: [{ mapping, from }],
		edges: tos.map((to) => ({ mapping, from, to })),
		neighbors: [end],
		decide(reads) {
			const [found] = reads.neighbors;
			const lowest = found?.edge?.state === PRESENT ? found.edge.sequence : 0;
			if (lowest <= tos.length || found?.next != null) return { result: null };
			const added = tos.filter((_, at) => (reads.edges[at] ?? null) === null);
			return {
				result: added,
				edges: added.map((to, at) => ({
					mapping,
					from,
					to,
					state: PRESENT,
					version: 1,
					sequence: lowest - 1 - at,
				})),
			};
		},
	});
	return result;
}
