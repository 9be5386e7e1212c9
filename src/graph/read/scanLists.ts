import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type {
	KeyResult,
	Position,
	Scan,
	ScanResult,
} from "../../storage/storage.ts";
import type { Head, Store } from "../store/store.ts";

/**
 * Scans lists: from a cached head where it reaches far enough, else from the
 * shards. A scan from the beginning of a list reads and caches its head.
 */
export async function scanLists(
	store: Store,
	scans: readonly Scan[],
	call: CallOptions | undefined,
): Promise<readonly KeyResult<ScanResult>[]> {
	const results = new Array<KeyResult<ScanResult> | undefined>(scans.length);
	const fromHead: number[] = [];
	const fromShard: number[] = [];
	for (const [index, scan] of scans.entries()) {
		const head = store.cachedHead(scan);
		results[index] = head && scanHead(head, scan);
		if (results[index] !== undefined) call?.trace?.cache("process", 1, 0);
		else if (startsAtHead(scan)) fromHead.push(index);
		else fromShard.push(index);
	}
	const scanOf = (index: number) => scans[index] as Scan;
	const depth = Math.max(0, ...fromHead.map((index) => scanOf(index).limit));
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
	for (const [at, index] of fromHead.entries()) {
		const head = heads[at] as KeyResult<Head>;
		results[index] =
			head instanceof CorkboardError ? head : scanHead(head, scanOf(index));
	}
	for (const [at, index] of fromShard.entries()) {
		results[index] = scanned[at] as KeyResult<ScanResult>;
	}
	return results as KeyResult<ScanResult>[];
}

function startsAtHead(scan: Scan): boolean {
	return (
		!scan.backward && scan.after === undefined && scan.before === undefined
	);
}

/** The result of the scan; undefined if the head does not reach far enough. */
function scanHead(head: Head, scan: Scan): ScanResult | undefined {
	if (scan.backward && !head.complete) return undefined;
	const descending = scan.mapping.order !== "OLDEST_FIRST";
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
	const order =
		a.sequence !== b.sequence
			? a.sequence - b.sequence
			: compareIds(a.to, b.to);
	return descending ? order < 0 : order > 0;
}

/** Ids are decimal strings without leading zeros. */
function compareIds(a: Id, b: Id): number {
	if (a.length !== b.length) return a.length - b.length;
	return a < b ? -1 : a > b ? 1 : 0;
}
