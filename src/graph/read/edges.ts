import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { listName } from "../../storage/keys.ts";
import {
	type Edge,
	type KeyResult,
	type ListKey,
	PRESENT,
} from "../../storage/rows.ts";
import type { CallOptions } from "../../trace.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import { DEEPEST_HEAD, Head, USUAL_DEPTH } from "../store/head.ts";
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
		Promise.all(
			ends.map(async ({ from, to }) => {
				const [edge] = await findEdges(store, mapping, from, [to], call);
				return edge ?? null;
			}),
		),
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
type FoundEdge = Head | EpochPosition;

/**
 * The edges of a list to some objects, each null if it is not present. They are looked
 * for in the list's head, which is read whole if it does not say it. Only a list longer
 * than any head is asked edge by edge.
 */
export function findEdges(
	store: ReadStore,
	mapping: Mapping,
	from: Id,
	tos: readonly Id[],
	call?: CallOptions,
): MaybePromise<readonly KeyResult<FoundEdge | null>[]> {
	const lists = [{ mapping, from }];
	const read = store.readHeads(lists, USUAL_DEPTH, call);
	return andThen(read, (heads) => {
		const found = lookIn(heads, tos);
		if (isAllSaid(found)) return found;
		const whole = readWhole(store, lists, heads, call);
		return andThen(whole, (heads) => {
			const found = lookIn(heads, tos);
			if (isAllSaid(found)) return found;
			const keys = tos
				.filter((_, at) => found[at] === undefined)
				.map((to) => ({ mapping, from, to }));
			return store.storage.read("edges", keys, call).then((edges) => {
				let next = 0;
				return found.map((known): KeyResult<FoundEdge | null> => {
					if (known !== undefined) return known;
					const edge = edges[next++] ?? null;
					if (edge instanceof CorkboardError) return edge;
					return positionOf(edge, heads[0] as Head);
				});
			});
		});
	});
}

/** Heads that are whole, where a head can be: they say of every id whether their list leads to it. */
export function readWholeHeads(
	store: ReadStore,
	lists: readonly ListKey[],
	call?: CallOptions,
): MaybePromise<readonly KeyResult<Head>[]> {
	return andThen(store.readHeads(lists, USUAL_DEPTH, call), (heads) =>
		readWhole(store, lists, heads, call),
	);
}

/** The same of lists whose heads were read, at any depth. Most are short, and whole already. */
function readWhole(
	store: ReadStore,
	lists: readonly ListKey[],
	heads: readonly KeyResult<Head>[],
	call: CallOptions | undefined,
): MaybePromise<readonly KeyResult<Head>[]> {
	const cut: number[] = [];
	let depth = 0;
	for (const [at, head] of heads.entries()) {
		if (head instanceof CorkboardError || head.complete) continue;
		if (head.count >= DEEPEST_HEAD) continue;
		cut.push(at);
		depth = Math.max(depth, head.count + 1);
	}
	if (cut.length === 0) return heads;
	const cutLists = cut.map((at) => lists[at] as ListKey);
	return andThen(store.readHeads(cutLists, depth, call), (whole) => {
		const all = [...heads];
		for (const [nth, at] of cut.entries()) {
			all[at] = whole[nth] as KeyResult<Head>;
		}
		return all;
	});
}

/** What the head of one list says of edges to these objects; undefined where it says nothing. */
function lookIn(
	[head]: readonly KeyResult<Head>[],
	tos: readonly Id[],
): (KeyResult<FoundEdge | null> | undefined)[] {
	if (head === undefined || head instanceof CorkboardError) {
		return tos.map(() => head);
	}
	return tos.map((to) => {
		const isThere = head.leadsTo(to);
		return isThere === undefined ? undefined : isThere ? head : null;
	});
}

function isAllSaid(
	found: readonly (KeyResult<FoundEdge | null> | undefined)[],
): found is readonly KeyResult<FoundEdge | null>[] {
	return !found.includes(undefined);
}

function positionOf(edge: Edge | null, { epoch }: Head): EpochPosition | null {
	if (edge === null || edge.state !== PRESENT) return null;
	return { sequence: edge.sequence, to: edge.to, epoch };
}
