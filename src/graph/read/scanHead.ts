import type { Id } from "../../id/ids.ts";
import type { Position, Scan, ScanResult } from "../../storage/storage.ts";
import type { Head } from "../store/store.ts";

/** A scan that a head is read for, and kept: one from the beginning of the list. */
export function startsAtHead(scan: Scan): boolean {
	return (
		!scan.backward && scan.after === undefined && scan.before === undefined
	);
}

/** What the scan would answer, if the head reaches far enough to say. */
export function scanHead(head: Head, scan: Scan): ScanResult | undefined {
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
