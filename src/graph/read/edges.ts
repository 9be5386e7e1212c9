import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { listName } from "../../storage/keys.ts";
import { type KeyResult, PRESENT } from "../../storage/storage.ts";
import { DEEPEST_HEAD, type Head } from "../store/head.ts";
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
	const lists = ends.map(({ from }) => ({ mapping, from }));
	const [heads, nodes] = await Promise.all([
		store.readHeads(lists, DEEPEST_HEAD, call),
		readVisible(
			ends.map(({ to }) => to),
			call,
		),
	]);
	onEdgesRead(ends.length);
	const positions = ends.map(({ to }, at) =>
		positionIn(heads[at] as KeyResult<Head>, to),
	);
	await readBelow(sources, mapping, ends, heads, positions, call);
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

type Found = EpochPosition | null | CorkboardError;

/** Undefined if the head does not say: the edge may be further down. */
function positionIn(head: KeyResult<Head>, to: Id): Found | undefined {
	if (head instanceof CorkboardError) return head;
	if (!head.has(to)) return head.complete ? null : undefined;
	const at = head.slice().findIndex((position) => position.to === to);
	return { ...head.position(at), epoch: head.epoch };
}

/** Puts in the positions that no head has. */
async function readBelow(
	sources: ListSources,
	mapping: Mapping,
	ends: readonly EdgeEnds[],
	heads: readonly KeyResult<Head>[],
	positions: (Found | undefined)[],
	call: CallOptions | undefined,
): Promise<void> {
	const below = [...positions.keys()].filter(
		(at) => positions[at] === undefined,
	);
	if (below.length === 0) return;
	const edges = await sources.store.storage.read(
		"edges",
		below.map((at) => ({ mapping, ...(ends[at] as EdgeEnds) })),
		call,
	);
	const readers = new Map<number, ListReader>();
	for (const [nth, at] of below.entries()) {
		const edge = edges[nth] ?? null;
		if (edge instanceof CorkboardError) positions[at] = edge;
		if (edge === null || edge instanceof CorkboardError) continue;
		if (edge.state !== PRESENT) continue;
		const { from, to } = ends[at] as EdgeEnds;
		const { epoch } = heads[at] as Head;
		const position = { sequence: edge.sequence, to, epoch };
		readers.set(at, readerAt({ mapping, from }, position, false));
	}
	await readMore(sources, [...readers.values()], 1, call);
	for (const [at, reader] of readers) {
		const found = reader.visible[0]?.edge;
		positions[at] =
			reader.error ?? (found?.to === ends[at]?.to ? found : null) ?? null;
	}
}
