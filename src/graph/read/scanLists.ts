import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import { isDescending } from "../../storage/order.ts";
import { comparePositions } from "../../storage/renumbering.ts";
import type {
	KeyResult,
	Position,
	Scan,
	ScanResult,
} from "../../storage/storage.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import {
	DEEPEST_HEAD,
	type Head,
	isDeepest,
	type Store,
} from "../store/store.ts";

/** A position of a list, and the epoch of the list in which it was read. */
export interface EpochPosition extends Position {
	readonly epoch: number;
}

/** A scan between positions of any epochs. */
export interface EpochScan extends Scan {
	readonly after?: EpochPosition;
	readonly before?: EpochPosition;
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
 * epoch of the bounds, else from the shards. A scan from the beginning of a list
 * reads and caches its head, and one that continues from within a head reads a
 * deeper one. Only `scanInOneEpoch` calls this: a result from a shard may be of
 * another epoch than the bounds.
 */
export function scanLists(
	store: Store,
	scans: readonly EpochScan[],
	call: CallOptions | undefined,
): MaybePromise<readonly KeyResult<ScanResult>[]> {
	const results = new Array<KeyResult<ScanResult> | undefined>(scans.length);
	const fromHead: number[] = [];
	const fromShard: number[] = [];
	let depth = 0;
	for (const [index, scan] of scans.entries()) {
		const head = store.cachedHead(scan);
		results[index] = head && scanHead(head, scan);
		if (results[index] !== undefined) {
			call?.trace?.cache("process", 1, 0);
			continue;
		}
		const needed = startsAtHead(scan)
			? scan.limit
			: head && depthFor(head, scan);
		if (needed === undefined) {
			fromShard.push(index);
		} else {
			fromHead.push(index);
			depth = Math.max(depth, needed);
		}
	}
	return fromHead.length + fromShard.length === 0
		? (results as KeyResult<ScanResult>[])
		: scanMissing(store, scans, results, { fromHead, fromShard, depth }, call);
}

async function scanMissing(
	store: Store,
	scans: readonly EpochScan[],
	results: (KeyResult<ScanResult> | undefined)[],
	{ fromHead, fromShard, depth }: Missing,
	call: CallOptions | undefined,
): Promise<readonly KeyResult<ScanResult>[]> {
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
			: store.storage.scanLists(fromShard.map(scanOf), call),
	]);
	const beyond: number[] = [];
	for (const [at, index] of fromHead.entries()) {
		const head = heads[at] as KeyResult<Head>;
		results[index] =
			head instanceof CorkboardError ? head : scanHead(head, scanOf(index));
		// The list has changed since the head was read that the depth was taken from.
		if (results[index] === undefined) beyond.push(index);
	}
	for (const [at, index] of fromShard.entries()) {
		results[index] = scanned[at] as KeyResult<ScanResult>;
	}
	if (beyond.length > 0) {
		const rest = await store.storage.scanLists(beyond.map(scanOf), call);
		for (const [at, index] of beyond.entries()) {
			results[index] = rest[at] as KeyResult<ScanResult>;
		}
	}
	return results as KeyResult<ScanResult>[];
}

/** Indexes of scans that the cached heads do not answer. */
interface Missing {
	readonly fromHead: readonly number[];
	readonly fromShard: readonly number[];
	/** Of the heads to read. */
	readonly depth: number;
}

/** How deep a head has to be for a scan that one does not reach; undefined if too deep to be cached, or unknown. */
function depthFor(head: Head, scan: EpochScan): number | undefined {
	if (isDeepest(head) || !isOfEpoch(scan, head.list.epoch)) return undefined;
	const { after, mapping, limit } = scan;
	if (scan.backward) {
		return head.list.count < DEEPEST_HEAD ? DEEPEST_HEAD : undefined;
	}
	const descending = isDescending(mapping);
	const last = head.edges.at(-1);
	if (after === undefined || last === undefined) return undefined;
	if (isAfter(after, last, descending)) return undefined;
	const before = head.edges.filter((edge) => !isAfter(edge, after, descending));
	const depth = before.length + limit;
	return depth <= DEEPEST_HEAD ? depth : undefined;
}

function startsAtHead(scan: EpochScan): boolean {
	return (
		!scan.backward && scan.after === undefined && scan.before === undefined
	);
}

/** The result of the scan; undefined if the head does not reach far enough. */
function scanHead(head: Head, scan: EpochScan): ScanResult | undefined {
	if (scan.backward && !head.complete) return undefined;
	if (!isOfEpoch(scan, head.list.epoch)) return undefined;
	const descending = isDescending(scan.mapping);
	const edges = head.edges.filter(
		(edge) =>
			(scan.after === undefined || isAfter(edge, scan.after, descending)) &&
			(scan.before === undefined || isAfter(scan.before, edge, descending)),
	);
	if (scan.backward) edges.reverse();
	const reaches =
		head.complete ||
		edges.length >= scan.limit ||
		// The head goes on past the far bound.
		edges.at(-1) !== head.edges.at(-1);
	return reaches && (edges.length > 0 || head.complete || scan.limit === 0)
		? { edges: edges.slice(0, scan.limit), list: head.list }
		: undefined;
}

function isAfter(a: Position, b: Position, descending: boolean): boolean {
	const order = comparePositions(a, b);
	return descending ? order < 0 : order > 0;
}
