import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { KeyResult, ListKey, Position } from "../../storage/rows.ts";
import type { CallOptions } from "../../trace.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import type { ReadStore } from "../store/store.ts";
import type { Node, WrittenState } from "../types.ts";
import { type EpochScanResult, scanInOneEpoch } from "./scanInOneEpoch.ts";
import type { EpochPosition, EpochScan } from "./scanLists.ts";

/**
 * Reads one list from one side, edge by edge, until it has enough objects that
 * the viewer may see (docs/consistency.md, "5. Pages"). Many readers advance
 * together: one round scans all their lists, then loads all objects that the
 * edges lead to. So the number of storage calls depends on the rounds, never on
 * the number of lists.
 *
 * 1. The first round scans as many edges as objects are needed.
 * 2. Edges to objects that the viewer may not see are left out; up to
 *    `MAX_TOP_UPS` further rounds make up for them.
 *
 * Every position of a reader has the epoch in which it was read, as the list may
 * be renumbered between two rounds.
 */
export interface ListReader {
	readonly key: ListKey;
	readonly backward: boolean;
	/** The bounds of the client, both exclusive: the near and the far one in the direction of reading. */
	readonly start: PageBound;
	end: PageBound;
	/** The last edge scanned. The next scan continues after it. */
	lastScanned: PageBound;
	/** Edges to objects that the viewer may see, in the direction of reading. */
	readonly visible: VisibleEdge[];
	/** The count of the list; null before it is read. */
	count: number | null;
	/** Whether no edge within the bounds is left. */
	exhausted: boolean;
	/** The end of a page that stopped short because the top-ups ran out. */
	cutAt: PageBound;
	/** Whether an object follows in the direction of reading. */
	hasMore: boolean;
	/** Whether an object lies before the start. */
	hasPreceding: boolean;
	error: CorkboardError | null;
}

/** Where list readers read from. */
export interface ListSources {
	readonly store: ReadStore;
	readonly readVisible: (
		ids: readonly Id[],
		call?: CallOptions,
	) => MaybePromise<readonly KeyResult<Node | null>[]>;
	/** Called with the number of edges that were read. */
	readonly onEdgesRead: (edges: number) => void;
	/** As the last write of the request committed them. */
	readonly counts: WrittenState["counts"];
}

interface VisibleEdge {
	readonly edge: EpochPosition;
	readonly node: Node | CorkboardError;
}

export type PageBound = EpochPosition | undefined;

const MAX_TOP_UPS = 3;

export function createListReader(
	key: ListKey,
	backward: boolean,
	bounds: { readonly after: PageBound; readonly before: PageBound },
): ListReader {
	const [start, end] = inReadingOrder(backward, bounds);
	return {
		key,
		backward,
		start,
		end,
		lastScanned: start,
		visible: [],
		count: null,
		exhausted: false,
		cutAt: undefined,
		hasMore: false,
		hasPreceding: false,
		error: null,
	};
}

/** Reads on until each reader has `needed` objects, is exhausted, or has used up its top-ups. */
export function readMore(
	sources: ListSources,
	readers: readonly ListReader[],
	needed: number,
	call: CallOptions | undefined,
	round = 0,
): MaybePromise<void> {
	if (readers.length === 0 || round > MAX_TOP_UPS) return;
	const limits = readers.map((reader) => needed - reader.visible.length);
	const scanned = scanInOneEpoch(
		sources.store,
		readers.map((reader, at) => toScan(reader, limits[at] as number)),
		call,
	);
	return andThen(scanned, (results) => {
		const edges = results.flatMap((result) =>
			result instanceof CorkboardError ? [] : result.edges,
		);
		sources.onEdgesRead(edges.length);
		return andThen(readNodes(sources, edges, call), (nodes) => {
			for (const [at, reader] of readers.entries()) {
				const result = results[at] as KeyResult<EpochScanResult>;
				if (result instanceof CorkboardError) reader.error = result;
				else addScanned(reader, result, limits[at] as number, nodes, call);
			}
			const unfinished = readers.filter(
				({ error, exhausted, visible }) =>
					error === null && !exhausted && visible.length < needed,
			);
			return readMore(sources, unfinished, needed, call, round + 1);
		});
	});
}

function addScanned(
	reader: ListReader,
	{ edges, list, ...bounds }: EpochScanResult,
	limit: number,
	nodes: ReadonlyMap<Id, KeyResult<Node | null>>,
	call: CallOptions | undefined,
): void {
	const before = reader.visible.length;
	reader.count = list.count;
	reader.exhausted = edges.length < limit;
	const { epoch } = list;
	for (const edge of edges) {
		const node = nodes.get(edge.to) ?? null;
		if (node !== null) reader.visible.push({ edge: { ...edge, epoch }, node });
	}
	call?.trace?.hiddenEdges(edges.length - (reader.visible.length - before));
	const [start, end] = inReadingOrder(reader.backward, bounds);
	const last = edges.at(-1);
	reader.lastScanned = last === undefined ? start : { ...last, epoch };
	reader.end = end;
}

/** The objects that the edges lead to, by id. */
function readNodes(
	{ readVisible }: ListSources,
	edges: readonly Position[],
	call: CallOptions | undefined,
): MaybePromise<ReadonlyMap<Id, KeyResult<Node | null>>> {
	if (edges.length === 0) return new Map();
	const ids = [...new Set(edges.map((edge) => edge.to))];
	return andThen(
		readVisible(ids, call),
		(nodes) =>
			new Map(ids.map((id, at) => [id, nodes[at] as KeyResult<Node | null>])),
	);
}

/** The reader's bounds change sides when it reads backward, and so do those of a scan. */
function inReadingOrder<T>(
	backward: boolean,
	{ after, before }: { readonly after?: T; readonly before?: T },
): readonly [start: T | undefined, end: T | undefined] {
	return backward ? [before, after] : [after, before];
}

function toScan(reader: ListReader, limit: number): EpochScan {
	const { key, backward, lastScanned, end } = reader;
	const [after, before] = inReadingOrder(backward, {
		after: lastScanned,
		before: end,
	});
	return {
		...key,
		backward,
		...(after && { after }),
		...(before && { before }),
		limit,
	};
}
