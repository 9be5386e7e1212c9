import type { Id } from "../../id/ids.ts";
import { Head } from "./head.ts";
import { EDGE_LETTERS } from "./packedEdges.ts";

/**
 * A head as one string, so that one command reads a hundred lists:
 *
 *     3|from|count|epoch|complete|edges
 *
 * The edges are as the process keeps them, at 18 letters each (`packedEdges.ts`).
 */
export function encodeHead(head: Head): string {
	const { from, count, epoch, complete, edges } = head;
	return `${VERSION}|${from}|${count}|${epoch}|${complete ? 1 : 0}|${edges}`;
}

/** Null for text that `encodeHead` did not write for the list of `from`. The head has that string, and of the text the edges. */
export function decodeHead(text: string, from: Id): Head | null {
	const start = `${VERSION}|${from}|`;
	if (!text.startsWith(start)) return null;
	const countEnd = text.indexOf("|", start.length);
	const epochEnd = text.indexOf("|", countEnd + 1);
	const count = readInteger(text, start.length, countEnd);
	const epoch = readInteger(text, countEnd + 1, epochEnd);
	const edgesAt = epochEnd + 3;
	if (count === null || epoch === null || text[edgesAt - 1] !== "|") {
		return null;
	}
	if ((text.length - edgesAt) % EDGE_LETTERS !== 0) return null;
	const complete = text[edgesAt - 2] === "1";
	return new Head({ from, count, epoch, complete }, text.slice(edgesAt));
}

/** The integer between two indexes; null for other text. */
function readInteger(text: string, start: number, end: number): number | null {
	if (start >= end || end - start > MAX_DIGITS) return null;
	let value = 0;
	for (let at = start; at < end; at++) {
		const digit = text.charCodeAt(at) - ZERO;
		if (!(digit >= 0 && digit <= 9)) return null;
		value = value * 10 + digit;
	}
	return value > Number.MAX_SAFE_INTEGER ? null : value;
}

const VERSION = "3";
const MAX_DIGITS = 16;
const ZERO = 48;
