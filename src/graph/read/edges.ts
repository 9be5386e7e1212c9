import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import type { Mapping } from "../../model/types.ts";
import { listName } from "../../storage/keys.ts";
import type { KeyResult } from "../../storage/storage.ts";
import { Head } from "../store/head.ts";
import type { EdgeEnds, PageEdge } from "../types.ts";
import { findEdges } from "./findEdges.ts";
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
