import { CorkboardError } from "../../errors.ts";
import { isDescending } from "../../storage/order.ts";
import type { KeyResult, Position, Scan } from "../../storage/rows.ts";
import type { CallOptions } from "../../trace.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import { DEEPEST_HEAD, Head } from "../store/head.ts";
import type { ReadStore } from "../store/store.ts";

/** A position of a list, and the epoch of the list in which it was read. */
export interface EpochPosition extends Position {
	readonly epoch: number;
}

/** A scan between positions of any epochs. */
export interface EpochScan extends Scan {
	readonly after?: EpochPosition;
	readonly before?: EpochPosition;
}

/** Edges of a list in the order of the scan, and what was read with them of the list's row. */
export interface ScannedEdges {
	readonly edges: readonly Position[];
	readonly list: { readonly count: number; readonly epoch: number };
	readonly isStale?: true;
}

export function isOfEpoch(
	{ after, before }: EpochScan,
	epoch: number,
): boolean {
	return (
		(after === undefined || after.epoch === epoch) &&
		(before === undefined || before.epoch === epoch)
	);
}

/**
 * Scans lists: from a cached head where it reaches far enough and is of the
 * epoch of the bounds, from a page that is kept beside it, else from the shards.
 * A scan from the beginning of a list reads and caches its head, one that
 * continues from within a head reads a deeper one, and one behind it is kept
 * beside it. Only `scanInOneEpoch` calls this: a result from a shard may be of
 * another epoch than the bounds.
 */
export function scanLists(
	store: ReadStore,
	scans: readonly EpochScan[],
	call: CallOptions | undefined,
): MaybePromise<readonly KeyResult<ScannedEdges>[]> {
	const results = new Array<KeyResult<ScannedEdges> | undefined>(scans.length);
	const fromHead: number[] = [];
	const fromShard: number[] = [];
	let behind: Map<number, Head> | null = null;
	let depth = 0;
	const moment = store.moment();
	for (const [index, scan] of scans.entries()) {
		const head = store.cachedHead(scan.mapping, scan.from, moment);
		results[index] = head && (scanHead(head, scan) ?? keptPage(head, scan));
		if (results[index] !== undefined) {
			call?.trace?.cache("process", 1, 0);
			continue;
		}
		const needed = startsAtHead(scan)
			? scan.limit
			: head && depthFor(head, scan);
		if (needed === undefined) {
			fromShard.push(index);
			if (head !== undefined) {
				behind ??= new Map();
				behind.set(index, head);
			}
		} else {
			fromHead.push(index);
			depth = Math.max(depth, needed);
		}
	}
	return fromHead.length + fromShard.length === 0
		? (results as KeyResult<ScannedEdges>[])
		: scanMissing(
				store,
				scans,
				results,
				{ fromHead, fromShard, behind, depth },
				call,
			);
}

async function scanMissing(
	store: ReadStore,
	scans: readonly EpochScan[],
	results: (KeyResult<ScannedEdges> | undefined)[],
	{ fromHead, fromShard, behind, depth }: Missing,
	call: CallOptions | undefined,
): Promise<readonly KeyResult<ScannedEdges>[]> {
	const scanOf = (index: number) => scans[index] as EpochScan;
	const pageOf = (index: number) => ({ ...scanOf(index), mayBeStale: true });
	const [heads, scanned] = await Promise.all([
		fromHead.length === 0
			? []
			: store.readHeads(
					fromHead.map((index) => {
						const { mapping, from } = scanOf(index);
						return { mapping, from };
					}),
					depth,
					call,
				),
		fromShard.length === 0
			? []
			: store.storage.read("lists", fromShard.map(pageOf), call),
	]);
	const beyond: number[] = [];
	for (const [at, index] of fromHead.entries()) {
		const head = heads[at] as KeyResult<Head>;
		const scan = scanOf(index);
		if (head instanceof CorkboardError) results[index] = head;
		// A head of a standby may lack what the reader has seen; only a scan between
		// positions says what that is.
		else if (!head.isStale || startsAtHead(scan)) {
			results[index] = scanHead(head, scan);
		}
		// Or the list has changed since the head was read that the depth was taken from.
		if (results[index] === undefined) beyond.push(index);
	}
	for (const [at, index] of fromShard.entries()) {
		const result = scanned[at] as KeyResult<ScannedEdges>;
		results[index] = result;
		const head = behind?.get(index);
		if (head !== undefined) keepPage(store, head, scanOf(index), result);
	}
	if (beyond.length > 0) {
		const rest = await store.storage.read("lists", beyond.map(pageOf), call);
		for (const [at, index] of beyond.entries()) {
			results[index] = rest[at] as KeyResult<ScannedEdges>;
		}
	}
	return results as KeyResult<ScannedEdges>[];
}

/** Indexes of scans that the cached heads do not answer. */
interface Missing {
	readonly fromHead: readonly number[];
	readonly fromShard: readonly number[];
	/** The heads in the process of lists that are read from the shard. */
	readonly behind: ReadonlyMap<number, Head> | null;
	/** Of the heads to read. */
	readonly depth: number;
}

/** How deep a head has to be for a scan that one does not reach; undefined if too deep to be cached, or unknown. */
function depthFor(head: Head, scan: EpochScan): number | undefined {
	if (head.isDeepest || !isOfEpoch(scan, head.epoch)) return undefined;
	const { after, mapping, limit } = scan;
	if (scan.backward) {
		return head.count < DEEPEST_HEAD ? DEEPEST_HEAD : undefined;
	}
	const descending = isDescending(mapping);
	if (after === undefined || head.size === 0) return undefined;
	const start = indexAfter(head, after, descending);
	if (start === head.size && !isEqual(head, start - 1, after)) return undefined;
	const depth = start + limit;
	return depth <= DEEPEST_HEAD ? depth : undefined;
}

function startsAtHead(scan: EpochScan): boolean {
	return (
		!scan.backward && scan.after === undefined && scan.before === undefined
	);
}

/**
 * The result of the scan; undefined if the head does not reach far enough. A head
 * begins where its list does, so it has all edges before each of its own.
 */
function scanHead(head: Head, scan: EpochScan): ScannedEdges | undefined {
	if (!isOfEpoch(scan, head.epoch)) return undefined;
	const { after, before, backward, limit } = scan;
	const descending = isDescending(scan.mapping);
	let start = after === undefined ? 0 : indexAfter(head, after, descending);
	let end =
		before === undefined ? head.size : indexFrom(head, before, descending);
	// The head does not go on past the far end of the range.
	const isCut = end === head.size && !head.complete;
	if (backward) {
		if (isCut) return undefined;
		start = Math.max(start, end - limit);
	} else {
		if (isCut && end - start < limit) return undefined;
		end = Math.min(end, start + limit);
	}
	const edges = head.slice(start, end);
	if (backward) edges.reverse();
	return { edges, list: head };
}

/** What the same scan has read before, if that was kept. */
function keptPage(head: Head, scan: EpochScan): ScannedEdges | undefined {
	const page = head.page(pageKey(scan));
	return page && { edges: page.slice(), list: page };
}

function keepPage(
	store: ReadStore,
	head: Head,
	scan: EpochScan,
	result: KeyResult<ScannedEdges>,
): void {
	if (result instanceof CorkboardError) return;
	const { edges, list, isStale } = result;
	if (isStale) return;
	// Of another epoch, it is not what was asked for.
	if (!isOfEpoch(scan, list.epoch) || list.epoch !== head.epoch) return;
	const { count, epoch } = list;
	const { from } = head;
	const page = Head.of({ from, count, epoch, complete: false }, edges);
	store.keepPage(scan.mapping, head, pageKey(scan), page);
}

function pageKey({ after, before, backward, limit }: EpochScan): string {
	return `${boundKey(after)} ${boundKey(before)} ${backward ? -limit : limit}`;
}

function boundKey(bound: EpochPosition | undefined): string {
	return bound === undefined
		? ""
		: `${bound.sequence}.${bound.to}.${bound.epoch}`;
}

/** The index of the first edge after the bound. */
function indexAfter(head: Head, bound: Position, descending: boolean): number {
	let at = 0;
	while (at < head.size && isUpTo(head.compare(at, bound), descending)) at++;
	return at;
}

/** The index of the first edge at the bound or after it. */
function indexFrom(head: Head, bound: Position, descending: boolean): number {
	let at = 0;
	while (at < head.size && isBefore(head.compare(at, bound), descending)) at++;
	return at;
}

function isEqual(head: Head, at: number, bound: Position): boolean {
	return head.compare(at, bound) === 0;
}

function isUpTo(order: number, descending: boolean): boolean {
	return order === 0 || isBefore(order, descending);
}

function isBefore(order: number, descending: boolean): boolean {
	return descending ? order > 0 : order < 0;
}
