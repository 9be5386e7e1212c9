import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type {
	Edge,
	KeyResult,
	ListKey,
	ListRow,
	Position,
	Scan,
	ScanResult,
} from "../../storage/storage.ts";
import type { Store } from "../store/store.ts";
import type { Node } from "../types.ts";
import { scanLists } from "./scanLists.ts";

/**
 * Reads one list from one side, edge by edge, until it has enough objects that
 * the viewer may see (docs/consistency.md, "5. Pages"). Many readers advance
 * together: one round scans all their lists, then loads all objects that the
 * edges lead to. So the number of storage calls depends on the rounds, never on
 * the number of lists.
 *
 * 1. The first round scans as many edges as objects are needed.
 * 2. If a bound is a cursor of an older epoch of the list, it is relocated and
 *    the scan repeated.
 * 3. Edges to objects that the viewer may not see are left out; up to
 *    `MAX_TOP_UPS` further rounds make up for them.
 */
export interface ListReader {
	readonly key: ListKey;
	readonly backward: boolean;
	/** The bounds of the client, both exclusive: the near and the far one in the direction of reading. */
	start: PageBound;
	end: PageBound;
	/** The last edge scanned. The next scan continues after it. */
	lastScanned: Position | undefined;
	/** Edges to objects that the viewer may see, in the direction of reading. */
	readonly visible: VisibleEdge[];
	listRow: ListRow | null;
	/** Whether no edge within the bounds is left. */
	exhausted: boolean;
	/** The end of a page that stopped short because the top-ups ran out. */
	cutAt: Position | undefined;
	/** Whether an object follows in the direction of reading. */
	hasMore: boolean;
	/** Whether an object lies before the start. */
	hasPreceding: boolean;
	error: CorkboardError | null;
}

/** Where list readers read from. */
export interface ListSources {
	readonly store: Store;
	readonly readVisible: (
		ids: readonly Id[],
		call?: CallOptions,
	) => Promise<readonly KeyResult<Node | null>[]>;
	/** Called with the number of edges that were read. */
	readonly onEdgesRead: (edges: number) => void;
}

export interface VisibleEdge {
	readonly edge: Edge;
	readonly node: Node | CorkboardError;
}

/** A bound that came as a cursor carries the epoch of the list at that time. */
export type PageBound = (Position & { readonly epoch?: number }) | undefined;

const MAX_TOP_UPS = 3;

/** Cursors carry the epoch of the list modulo this (id/cursors.ts). */
export const EPOCHS = 2 ** 16;

export function createListReader(
	key: ListKey,
	backward: boolean,
	{ after, before }: { readonly after: PageBound; readonly before: PageBound },
): ListReader {
	const [start, end] = backward ? [before, after] : [after, before];
	return {
		key,
		backward,
		start,
		end,
		lastScanned: start,
		visible: [],
		listRow: null,
		exhausted: false,
		cutAt: undefined,
		hasMore: false,
		hasPreceding: false,
		error: null,
	};
}

/** Reads on until each reader has `needed` objects, is exhausted, or has used up its top-ups. */
export async function readMore(
	sources: ListSources,
	readers: readonly ListReader[],
	needed: number,
	call: CallOptions | undefined,
): Promise<void> {
	const { store } = sources;
	let pending = readers;
	for (let round = 0; pending.length > 0 && round <= MAX_TOP_UPS; round++) {
		const limits = pending.map((reader) => needed - reader.visible.length);
		const scan = () =>
			scanLists(
				store,
				pending.map((reader, at) => toScan(reader, limits[at] as number)),
				call,
			);
		let results = await scan();
		if (round === 0 && (await relocateCursors(store, pending, results, call))) {
			results = await scan();
		}
		const edges = results.flatMap((result) =>
			result instanceof CorkboardError ? [] : result.edges,
		);
		sources.onEdgesRead(edges.length);
		const nodes = await readNodes(sources, edges, call);
		for (const [at, reader] of pending.entries()) {
			const result = results[at] as KeyResult<ScanResult>;
			if (result instanceof CorkboardError) reader.error = result;
			else addScanned(reader, result, limits[at] as number, nodes);
		}
		pending = pending.filter(
			({ error, exhausted, visible }) =>
				error === null && !exhausted && visible.length < needed,
		);
	}
}

function addScanned(
	reader: ListReader,
	{ edges, list }: ScanResult,
	limit: number,
	nodes: ReadonlyMap<Id, KeyResult<Node | null>>,
): void {
	reader.listRow = list;
	reader.exhausted = edges.length < limit;
	for (const edge of edges) {
		const node = nodes.get(edge.to) ?? null;
		if (node !== null) reader.visible.push({ edge, node });
	}
	reader.lastScanned = edges.at(-1) ?? reader.lastScanned;
}

/**
 * Renumbering a list gives its edges new sequences and raises its epoch. A
 * cursor of another epoch is relocated to the present sequence of its edge; if
 * the row of the edge is gone, the old sequence is the best approximation.
 * Returns whether there was such a cursor.
 */
async function relocateCursors(
	store: Store,
	readers: readonly ListReader[],
	results: readonly KeyResult<ScanResult>[],
	call: CallOptions | undefined,
): Promise<boolean> {
	const stale: {
		reader: ListReader;
		side: "start" | "end";
		position: Position;
	}[] = [];
	for (const [at, reader] of readers.entries()) {
		const result = results[at] as KeyResult<ScanResult>;
		if (result instanceof CorkboardError) continue;
		const epoch = result.list.epoch % EPOCHS;
		for (const side of ["start", "end"] as const) {
			const position = reader[side];
			if (position?.epoch !== undefined && position.epoch !== epoch) {
				stale.push({ reader, side, position });
			}
		}
	}
	if (stale.length === 0) return false;
	const edges = await store.storage.readEdges(
		stale.map(({ reader, position }) => ({ ...reader.key, to: position.to })),
		call,
	);
	for (const [at, { reader, side, position }] of stale.entries()) {
		const edge = edges[at] ?? null;
		const isKnown = edge !== null && !(edge instanceof CorkboardError);
		reader[side] = isKnown ? edge : position;
		if (side === "start") reader.lastScanned = reader.start;
	}
	return true;
}

/** The objects that the edges lead to, by id. */
async function readNodes(
	{ readVisible }: ListSources,
	edges: readonly Edge[],
	call: CallOptions | undefined,
): Promise<ReadonlyMap<Id, KeyResult<Node | null>>> {
	if (edges.length === 0) return new Map();
	const ids = [...new Set(edges.map((edge) => edge.to))];
	const nodes = await readVisible(ids, call);
	return new Map(
		ids.map((id, at) => [id, nodes[at] as KeyResult<Node | null>]),
	);
}

function toScan(reader: ListReader, limit: number): Scan {
	const { key, backward, lastScanned, end } = reader;
	const [after, before] = backward ? [end, lastScanned] : [lastScanned, end];
	return {
		...key,
		backward,
		...(after && { after }),
		...(before && { before }),
		limit,
	};
}
