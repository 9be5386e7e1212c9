import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { listName } from "../../storage/keys.ts";
import {
	type Edge,
	type KeyResult,
	type Position,
	PRESENT,
} from "../../storage/rows.ts";
import type { CallOptions } from "../../trace.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import { DEEPEST_HEAD, Head } from "../store/head.ts";
import type { ReadStore } from "../store/store.ts";
import type { EdgeEnds, PageEdge } from "../types.ts";
import { type ListReader, type ListSources, readMore } from "./listReader.ts";
import { readerAt } from "./pages.ts";
import type { EpochPosition } from "./scanLists.ts";

/**
 * The edge from a list to an object, as a page of that list would have it. Null
 * if there is none, or the viewer may not see the object.
 *
 * A position means something in one epoch of the list only. A head has both. An
 * edge below the head is found by its position in a scan, which has both too.
 */
export async function readEdges(
	sources: ListSources,
	mapping: Mapping,
	ends: readonly EdgeEnds[],
	call?: CallOptions,
): Promise<readonly (PageEdge | null | CorkboardError)[]> {
	const { store, readVisible, onEdgesRead } = sources;
	if (ends.length === 0) return [];
	const [edges, nodes] = await Promise.all([
		findEdges(store, mapping, ends, call),
		readVisible(
			ends.map(({ to }) => to),
			call,
		),
	]);
	onEdgesRead(ends.length);
	const readers = new Map<number, ListReader>();
	const positions = edges.map((edge, at): KeyResult<EpochPosition | null> => {
		if (!(edge instanceof Head)) {
			if (edge === null || edge instanceof CorkboardError) return edge;
			const { from } = ends[at] as EdgeEnds;
			readers.set(at, readerAt({ mapping, from }, edge, false));
			return null;
		}
		const position = edge.positionOf((ends[at] as EdgeEnds).to);
		return position === undefined ? null : { ...position, epoch: edge.epoch };
	});
	await readMore(sources, [...readers.values()], 1, call);
	for (const [at, reader] of readers) {
		const found = reader.visible[0]?.edge;
		const isIt = found !== undefined && found.to === ends[at]?.to;
		positions[at] = reader.error ?? (isIt ? found : null);
	}
	return ends.map(({ from }, at) => {
		const position = positions[at] ?? null;
		const node = nodes[at] ?? null;
		if (position instanceof CorkboardError) return position;
		if (position === null || node === null) return null;
		return {
			node,
			sequence: position.sequence,
			cursor: () => store.cursors.encode(listName(mapping, from), position),
		};
	});
}

/**
 * Where a present edge was found: on the head of its list, or below it. The
 * position of one below is that of the edge's own row: the list may have been renumbered since its head was read.
 */
export type FoundEdge = Head | EpochPosition;

/**
 * Edges of lists, each null if it is not present. The heads are read first: most lists are
 * short, and answer from memory the next time. What no head shows is read edge by edge,
 * and kept beside the head.
 */
export function findEdges(
	store: ReadStore,
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
		const found = ends.map((end) => lookIn(headOf(end), end.to));
		const unread = ends.filter((_, at) => found[at] === undefined);
		if (unread.length === 0) return found as KeyResult<FoundEdge | null>[];
		const keys = unread.map((end) => ({ mapping, ...end }));
		return store.storage.read("edges", keys, call).then((edges) => {
			let next = 0;
			return ends.map((end, at): KeyResult<FoundEdge | null> => {
				const known = found[at];
				if (known !== undefined) return known;
				const edge = edges[next++] ?? null;
				if (edge instanceof CorkboardError) return edge;
				const head = headOf(end) as Head;
				const position = positionOf(edge, end.to);
				store.keepBelow(mapping, head, end.to, position);
				return below(head, position);
			});
		});
	});
}

/** Undefined if the head, and what was read below it, do not say. */
function lookIn(
	head: KeyResult<Head>,
	to: Id,
): KeyResult<FoundEdge | null> | undefined {
	if (head instanceof CorkboardError) return head;
	const isThere = head.leadsTo(to);
	if (isThere !== undefined) return isThere ? head : null;
	const position = head.below(to);
	return position === undefined ? undefined : below(head, position);
}

function positionOf(edge: Edge | null, to: Id): Position | null {
	if (edge === null || edge.state !== PRESENT) return null;
	return { sequence: edge.sequence, to };
}

function below(
	{ epoch }: Head,
	position: Position | null,
): EpochPosition | null {
	return position && { ...position, epoch };
}
