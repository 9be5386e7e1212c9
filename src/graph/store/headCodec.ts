import type { Id } from "../../id/ids.ts";
import { Head, setEdge } from "./head.ts";

/**
 * A head as one string, so that one command reads a hundred lists:
 *
 *     2|from|count|epoch|complete|to:sequence,…
 *
 * It is text because ids are decimal strings anyway: a head of 32 edges takes
 * about 1,200 bytes.
 */
export function encodeHead(head: Head): string {
	const { from, count, epoch, complete, size } = head;
	let edges = "";
	for (let at = 0; at < size; at++) {
		if (at > 0) edges += ",";
		edges += `${head.to(at)}:${head.sequence(at)}`;
	}
	return `${VERSION}|${from}|${count}|${epoch}|${complete ? 1 : 0}|${edges}`;
}

/**
 * Null for text that `encodeHead` did not write for the list of `from`. The head
 * has that string, because V8 keeps the whole text for as long as a part of it.
 */
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
	let size = 0;
	for (let at = edgesAt; at < text.length; size++) {
		const colon = text.indexOf(":", at);
		const comma = text.indexOf(",", colon);
		const end = comma < 0 ? text.length : comma;
		const sequence = readInteger(text, colon + 1, end);
		if (sequence === null || !setEdge(size, text, at, colon, sequence)) {
			return null;
		}
		at = end + 1;
	}
	const complete = text[edgesAt - 2] === "1";
	return new Head({ from, count, epoch, complete }, size);
}

/** The integer between two indexes; null for other text. */
function readInteger(text: string, start: number, end: number): number | null {
	const isNegative = text.charCodeAt(start) === MINUS;
	let at = isNegative ? start + 1 : start;
	if (at >= end || end - at > MAX_DIGITS) return null;
	let value = 0;
	for (; at < end; at++) {
		const digit = text.charCodeAt(at) - ZERO;
		if (!(digit >= 0 && digit <= 9)) return null;
		value = value * 10 + digit;
	}
	if (value > Number.MAX_SAFE_INTEGER) return null;
	return isNegative ? -value : value;
}

const VERSION = "2";
const MAX_DIGITS = 16;
const MINUS = 45;
const ZERO = 48;
