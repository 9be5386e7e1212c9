import { CorkboardError } from "../../errors.ts";
import { isDescending } from "../../storage/order.ts";
import type { KeyResult, Position, Scan } from "../../storage/rows.ts";
import type { CallOptions } from "../../trace.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import { DEEPEST_PAGE, type Head } from "../store/head.ts";
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

function isOlder({ after, before }: EpochScan, epoch: number): boolean {
	return (after?.epoch ?? 0) <= epoch && (before?.epoch ?? 0) <= epoch;
}

/**
 * Scans lists. Each scan is answered by the first of these that can:
 *
 * 1. the head in the process, if it reaches far enough and is of the epoch of the bounds;
 * 2. a head that is read now, as deep as the scan needs;
 * 3. the shard, if such a head would be too deep.
 *
 * Only `scanInOneEpoch` calls this: a result from a shard may be of another epoch
 * than the bounds.
 */
export function scanLists(
	store: ReadStore,
	scans: readonly EpochScan[],
	call: CallOptions | undefined,
): MaybePromise<readonly KeyResult<ScannedEdges>[]> {
	const results = new Array<KeyResult<ScannedEdges> | undefined>(scans.length);
	const missing = new Missing();
	const moment = store.moment();
	for (const [index, scan] of scans.entries()) {
		const head = store.cachedHead(scan.mapping, scan.from, moment);
		const result = head && scanHead(head, scan);
		results[index] = result;
		if (result === undefined) missing.add(index, depthFor(head, scan));
		else call?.trace?.cache("process", 1, 0);
	}
	return missing.isEmpty
		? (results as KeyResult<ScannedEdges>[])
		: scanMissing(store, scans, results, missing, call);
}

async function scanMissing(
	store: ReadStore,
	scans: readonly EpochScan[],
	results: (KeyResult<ScannedEdges> | undefined)[],
	{ fromHead, fromShard, depth }: Missing,
	call: CallOptions | undefined,
	wasDeepened = false,
): Promise<readonly KeyResult<ScannedEdges>[]> {
	const scanOf = (index: number) => scans[index] as EpochScan;
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
			: store.storage.read(
					"lists",
					fromShard.map((index) => ({ ...scanOf(index), mayBeStale: true })),
					call,
				),
	]);
	for (const [at, index] of fromShard.entries()) {
		results[index] = scanned[at] as KeyResult<ScannedEdges>;
	}
	const missing = new Missing();
	for (const [at, index] of fromHead.entries()) {
		const head = heads[at] as KeyResult<Head>;
		const scan = scanOf(index);
		if (head instanceof CorkboardError) results[index] = head;
		// A head of a standby may lack what the reader has seen; only a scan between
		// positions says what that is.
		else if (!head.isStale || startsAtHead(scan)) {
			results[index] = scanHead(head, scan);
		}
		if (results[index] !== undefined) continue;
		const isLast = wasDeepened || (head as Head).isStale;
		missing.add(index, isLast ? undefined : depthFor(head as Head, scan));
	}
	return missing.isEmpty
		? (results as KeyResult<ScannedEdges>[])
		: scanMissing(store, scans, results, missing, call, true);
}

/** Scans that no cached head answers, by their indexes. */
class Missing {
	readonly fromHead: number[] = [];
	readonly fromShard: number[] = [];
	/** The depth of the heads to read. */
	depth = 0;

	/** `depth`: how deep a head is read for the scan; undefined: the shard is read. */
	add(index: number, depth: number | undefined): void {
		if (depth === undefined) this.fromShard.push(index);
		else {
			this.fromHead.push(index);
			this.depth = Math.max(this.depth, depth);
		}
	}

	get isEmpty(): boolean {
		return this.fromHead.length + this.fromShard.length === 0;
	}
}

/** How deep a head answers the scan. `head` does not; undefined: there is none. The result is undefined if that is too deep. */
function depthFor(head: Head | undefined, scan: EpochScan): number | undefined {
	if (startsAtHead(scan)) return scan.limit;
	const { after, before, backward, limit } = scan;
	if (head === undefined) {
		// It is mostly the second page.
		const isSecond = after !== undefined && before === undefined && !backward;
		return isSecond && limit * 2 <= DEEPEST_PAGE ? limit * 2 : undefined;
	}
	if (head.complete || !isOfEpoch(scan, head.epoch)) return undefined;
	const whole = head.count < DEEPEST_PAGE ? head.count + 1 : undefined;
	if (backward || after === undefined) return whole;
	const start = indexAfter(head, after, isDescending(scan.mapping));
	// The position is further down, nobody knows where.
	if (start === head.size && !(start > 0 && isEqual(head, start - 1, after))) {
		return whole;
	}
	return start + limit <= DEEPEST_PAGE ? start + limit : whole;
}

function startsAtHead(scan: EpochScan): boolean {
	return (
		!scan.backward && scan.after === undefined && scan.before === undefined
	);
}

/**
 * The result of the scan, without edges if the list was renumbered since its bounds
 * were read; undefined if the head does not reach far enough. A head
 * begins where its list does, so it has all edges before each of its own.
 */
function scanHead(head: Head, scan: EpochScan): ScannedEdges | undefined {
	if (!isOfEpoch(scan, head.epoch)) {
		// The epoch is all that the next scan needs, if it is not an old one.
		return isOlder(scan, head.epoch) ? { edges: [], list: head } : undefined;
	}
	const { after, before, backward, limit } = scan;
	const descending = isDescending(scan.mapping);
	let start = after === undefined ? 0 : indexAfter(head, after, descending);
	let end =
		before === undefined ? head.size : indexFrom(head, before, descending);
	// The head does not continue past the far end of the range.
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

/** The index of the first edge after the bound. */
function indexAfter(head: Head, bound: Position, descending: boolean): number {
	return firstIndex(head, (at) => !isUpTo(head.compare(at, bound), descending));
}

/** The index of the first edge at the bound or after it. */
function indexFrom(head: Head, bound: Position, descending: boolean): number {
	return firstIndex(
		head,
		(at) => !isBefore(head.compare(at, bound), descending),
	);
}

/** The index of the first edge for which something is true, as it is for all after it; the size if for none. */
function firstIndex(head: Head, isTrue: (at: number) => boolean): number {
	let low = 0;
	let high = head.size;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if (isTrue(middle)) high = middle;
		else low = middle + 1;
	}
	return low;
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
