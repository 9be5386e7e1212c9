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
type FoundEdge = Head | EpochPosition;

/**
 * Edges of lists, each null if it is not present. They are looked for in heads, which
 * are read whole if they do not say it. Only lists longer than any head are asked
 * edge by edge.
 */
export function findEdges(
	store: ReadStore,
	mapping: Mapping,
	ends: readonly EdgeEnds[],
	call?: CallOptions,
): MaybePromise<readonly KeyResult<FoundEdge | null>[]> {
	const froms = [...new Set(ends.map(({ from }) => from))];
	const read = store.readHeads(listsOf(mapping, froms), USUAL_DEPTH, call);
	return andThen(read, (heads) => {
		const byList = new Map(froms.map((from, at) => [from, heads[at]]));
		const find = () =>
			ends.map(({ from, to }) =>
				lookIn(byList.get(from) as KeyResult<Head>, to),
			);
		const found = find();
		const unsaid = froms.filter((from) =>
			ends.some((end, at) => end.from === from && found[at] === undefined),
		);
		if (unsaid.length === 0) return found as KeyResult<FoundEdge | null>[];
		const whole = readWhole(
			store,
			listsOf(mapping, unsaid),
			unsaid.map((from) => byList.get(from) as Head),
			call,
		);
		return andThen(whole, (heads) => {
			for (const [at, from] of unsaid.entries()) byList.set(from, heads[at]);
			const found = find();
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
					return positionOf(edge, byList.get(end.from) as Head);
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

function listsOf(mapping: Mapping, froms: readonly Id[]): readonly ListKey[] {
	return froms.map((from) => ({ mapping, from }));
}

/** Undefined if the head does not say. */
function lookIn(
	head: KeyResult<Head>,
	to: Id,
): KeyResult<FoundEdge | null> | undefined {
	if (head instanceof CorkboardError) return head;
	const isThere = head.leadsTo(to);
	return isThere === undefined ? undefined : isThere ? head : null;
}

function positionOf(edge: Edge | null, { epoch }: Head): EpochPosition | null {
	if (edge === null || edge.state !== PRESENT) return null;
	return { sequence: edge.sequence, to: edge.to, epoch };
}
