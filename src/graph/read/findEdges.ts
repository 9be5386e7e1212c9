import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import type { Mapping } from "../../model/types.ts";
import { type Edge, type KeyResult, PRESENT } from "../../storage/storage.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import { DEEPEST_HEAD, type Head } from "../store/head.ts";
import type { Store } from "../store/store.ts";
import type { EdgeEnds } from "../types.ts";
import type { EpochPosition } from "./scanLists.ts";

/**
 * Where a present edge was found: on the head of its list, or below it. The
 * position of one below is that of the edge's own row: the list may have been renumbered since its head was read.
 */
export type FoundEdge = Head | EpochPosition;

/**
 * Edges of lists, each null if it is not present. The heads are read first: most lists are
 * short, and answer from memory the next time. What no head shows is read edge by edge.
 */
export function findEdges(
	store: Store,
	mapping: Mapping,
	ends: readonly EdgeEnds[],
	call?: CallOptions,
): MaybePromise<readonly KeyResult<FoundEdge | null>[]> {
	const froms = [...new Set(ends.map(({ from }) => from))];
	const lists = froms.map((from) => ({ mapping, from }));
	const heads = store.readHeads(lists, DEEPEST_HEAD, call);
	return andThen(heads, (heads) => {
		const byList = new Map(froms.map((from, at) => [from, heads[at]]));
		const headOf = (end: EdgeEnds) => byList.get(end.from) as KeyResult<Head>;
		const below = ends.filter((end) => {
			const head = headOf(end);
			return "leadsTo" in head && head.leadsTo(end.to) === undefined;
		});
		return andThen(readBelow(store, mapping, below, call), (edges) => {
			let next = 0;
			return ends.map((end): KeyResult<FoundEdge | null> => {
				const head = headOf(end);
				if (head instanceof CorkboardError) return head;
				const isThere = head.leadsTo(end.to);
				if (isThere !== undefined) return isThere ? head : null;
				const edge = edges[next++] ?? null;
				if (edge === null || edge instanceof CorkboardError) return edge;
				if (edge.state !== PRESENT) return null;
				return { sequence: edge.sequence, to: end.to, epoch: head.epoch };
			});
		});
	});
}

function readBelow(
	store: Store,
	mapping: Mapping,
	ends: readonly EdgeEnds[],
	call: CallOptions | undefined,
): MaybePromise<readonly KeyResult<Edge | null>[]> {
	if (ends.length === 0) return [];
	const keys = ends.map((end) => ({ mapping, ...end }));
	return store.storage.read("edges", keys, call);
}
