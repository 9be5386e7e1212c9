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
import type { Head, Store } from "../store/store.ts";
import type { Node } from "../types.ts";
import { scanHead, startsAtHead } from "./scanHead.ts";

/**
 * Walking lists edge by edge until enough objects are met that the viewer may
 * see. Edges to others are left out, and a list is topped up by at most this
 * many further rounds.
 */
const TOP_UPS = 3;

export interface ListSources {
	readonly store: Store;
	readonly readVisible: (
		ids: readonly Id[],
		call?: CallOptions,
	) => Promise<readonly KeyResult<Node | null>[]>;
	/** Told how many edges were read. */
	readonly onEdgesRead: (edges: number) => void;
}

/** One list being walked from one side. */
export interface ListReader {
	readonly key: ListKey;
	readonly backward: boolean;
	/** The client's bounds, both exclusive: where the walk starts and where it ends. */
	start: PageBound;
	end: PageBound;
	/** The last edge scanned; the next scan goes on behind it. */
	lastScanned: Position | undefined;
	/** What the viewer may see, in the order of the walk. */
	readonly visible: VisibleEdge[];
	listRow: ListRow | null;
	/** No further edge within the bounds. */
	exhausted: boolean;
	/** Where a page ends that was cut short. */
	cutAt: Position | undefined;
	/** Whether something follows in the direction of the walk, and whether something lies behind its start. */
	hasMore: boolean;
	hasPreceding: boolean;
	error: CorkboardError | null;
}

export interface VisibleEdge {
	readonly edge: Edge;
	readonly node: Node | CorkboardError;
}

/** A bound that came as a cursor knows the list's epoch at the time. */
export type PageBound = (Position & { readonly epoch?: number }) | undefined;

export function createListReader(
	key: ListKey,
	backward: boolean,
	{ after, before }: { readonly after: PageBound; readonly before: PageBound },
): ListReader {
	const [near, far] = backward ? [before, after] : [after, before];
	return {
		key,
		backward,
		start: near,
		end: far,
		lastScanned: near,
		visible: [],
		listRow: null,
		exhausted: false,
		cutAt: undefined,
		hasMore: false,
		hasPreceding: false,
		error: null,
	};
}

/** Walk on until each list has `needed` objects, has no more edges, or has been topped up often enough. */
export async function readMore(
	sources: ListSources,
	walks: readonly ListReader[],
	needed: number,
	call: CallOptions | undefined,
): Promise<void> {
	let pending = walks;
	for (let round = 0; pending.length > 0 && round <= TOP_UPS; round++) {
		const limits = pending.map((walk) => needed - walk.visible.length);
		let scanned = await scanAll(sources.store, pending, limits, call);
		if (
			round === 0 &&
			(await relocateCursors(sources.store, pending, scanned, call))
		) {
			scanned = await scanAll(sources.store, pending, limits, call);
		}
		const edges = scanned.flatMap((answer) =>
			isError(answer) ? [] : answer.edges,
		);
		sources.onEdgesRead(edges.length);
		const nodes = await loadAll(sources, edges, call);
		for (const [at, walk] of pending.entries()) {
			const answer = scanned[at] as KeyResult<ScanResult>;
			if (isError(answer)) walk.error = answer;
			else take(walk, answer, limits[at] as number, nodes);
		}
		pending = pending.filter(
			(walk) =>
				walk.error === null && !walk.exhausted && walk.visible.length < needed,
		);
	}
}

function take(
	walk: ListReader,
	{ edges, list }: ScanResult,
	limit: number,
	nodes: ReadonlyMap<Id, KeyResult<Node | null>>,
): void {
	walk.listRow = list;
	walk.exhausted = edges.length < limit;
	for (const edge of edges) {
		const node = nodes.get(edge.to) ?? null;
		if (node !== null) walk.visible.push({ edge, node });
	}
	walk.lastScanned = edges.at(-1) ?? walk.lastScanned;
}

/**
 * A list that was renumbered since a cursor was spelled has its edges at other
 * sequences: the cursor's edge tells its present one. Where it is gone for
 * good, the old one is the best guess. Answers whether any bound moved.
 */
async function relocateCursors(
	store: Store,
	walks: readonly ListReader[],
	scanned: readonly KeyResult<ScanResult>[],
	call: CallOptions | undefined,
): Promise<boolean> {
	const stale: { walk: ListReader; side: "start" | "end"; place: Position }[] =
		[];
	for (const [at, walk] of walks.entries()) {
		const answer = scanned[at] as KeyResult<ScanResult>;
		if (isError(answer)) continue;
		for (const side of ["start", "end"] as const) {
			const place = walk[side];
			if (
				place?.epoch !== undefined &&
				place.epoch !== answer.list.epoch % EPOCHS
			) {
				stale.push({ walk, side, place });
			}
		}
	}
	if (stale.length === 0) return false;
	const anchors = await store.storage.readEdges(
		stale.map(({ walk, place }) => ({ ...walk.key, to: place.to })),
		call,
	);
	for (const [at, { walk, side, place }] of stale.entries()) {
		const anchor = anchors[at];
		walk[side] = isEdge(anchor) ? anchor : place;
		if (side === "start") walk.lastScanned = walk.start;
	}
	return true;
}

/** Objects by id. */
async function loadAll(
	{ readVisible: visible }: ListSources,
	edges: readonly Edge[],
	call: CallOptions | undefined,
): Promise<ReadonlyMap<Id, KeyResult<Node | null>>> {
	if (edges.length === 0) return new Map();
	const ids = [...new Set(edges.map((edge) => edge.to))];
	const answers = await visible(ids, call);
	return new Map(
		ids.map((id, at) => [id, answers[at] as KeyResult<Node | null>]),
	);
}

/** The next edges of each walk: from the cached head where it reaches that far, else from the shards. */
async function scanAll(
	store: Store,
	walks: readonly ListReader[],
	limits: readonly number[],
	call: CallOptions | undefined,
): Promise<readonly KeyResult<ScanResult>[]> {
	const answers = new Array<KeyResult<ScanResult> | undefined>(walks.length);
	const fromHead: number[] = [];
	const scans: { at: number; scan: Scan }[] = [];
	for (const [at, walk] of walks.entries()) {
		const scan = toScan(walk, limits[at] as number);
		const head = store.cachedHead(walk.key);
		answers[at] = head && scanHead(head, scan);
		if (answers[at] !== undefined) {
			call?.trace?.cache("process", 1, 0);
		} else if (startsAtHead(scan)) {
			fromHead.push(at);
		} else {
			scans.push({ at, scan });
		}
	}
	const depth = Math.max(0, ...fromHead.map((at) => limits[at] as number));
	const [heads, scanned] = await Promise.all([
		fromHead.length === 0
			? []
			: store.readHeads(
					fromHead.map((at) => (walks[at] as ListReader).key),
					depth,
					call,
				),
		scans.length === 0
			? []
			: store.storage.scanLists(
					scans.map(({ scan }) => scan),
					call,
				),
	]);
	for (const [index, at] of fromHead.entries()) {
		const head = heads[index] as KeyResult<Head>;
		answers[at] = isError(head)
			? head
			: scanHead(head, toScan(walks[at] as ListReader, limits[at] as number));
	}
	for (const [index, { at }] of scans.entries()) {
		answers[at] = scanned[index] as KeyResult<ScanResult>;
	}
	return answers as KeyResult<ScanResult>[];
}

function toScan(walk: ListReader, limit: number): Scan {
	return {
		...walk.key,
		backward: walk.backward,
		...(walk.backward
			? bounds(walk.end, walk.lastScanned)
			: bounds(walk.lastScanned, walk.end)),
		limit,
	};
}

function bounds(
	after: Position | undefined,
	before: Position | undefined,
): Pick<Scan, "after" | "before"> {
	return { ...(after && { after }), ...(before && { before }) };
}
/** A cursor carries so many epochs before they come round again. */
export const EPOCHS = 2 ** 16;

export function isError<T>(
	answer: T | CorkboardError,
): answer is CorkboardError {
	return answer instanceof CorkboardError;
}

function isEdge(answer: KeyResult<Edge | null> | undefined): answer is Edge {
	return answer !== undefined && answer !== null && !isError(answer);
}
