import type { Id } from "../../id/ids.ts";
import type { Position } from "../../storage/rows.ts";

/*
 * Edges of a list as one text, the same in Redis and in the process. An edge is 18
 * letters: five for the digits of its id before the last ten, five for the last ten,
 * eight for its sequence. A letter holds seven bits, so that the text is ASCII: V8
 * keeps a byte for each letter, never looks into it when it collects garbage, and a
 * cache server gets and sends it as it is.
 */

/** Letters of an edge. */
export const EDGE_LETTERS = 18;

/** The edges, in that order. */
export function packEdges(edges: readonly Position[]): string {
	let scratch = SCRATCH;
	const length = edges.length * EDGE_LETTERS;
	if (length > scratch.length) scratch = Buffer.alloc(length);
	for (let edge = 0; edge < edges.length; edge++) {
		const { to, sequence } = edges[edge] as Position;
		const at = edge * EDGE_LETTERS;
		if (!writeId(scratch, at, to)) {
			throw new TypeError(`An edge leads to ${to}, which is no id.`);
		}
		const high = Math.floor(sequence / BITS_28);
		write28(scratch, at + ID_LETTERS, high + SIGN);
		write28(scratch, at + ID_LETTERS + 4, sequence - high * BITS_28);
	}
	return scratch.toString("latin1", 0, length);
}

/** The id that an edge leads to. */
export function idAt(edges: string, edge: number): Id {
	const at = edge * EDGE_LETTERS;
	const high = (letter(edges, at) << 28) | read28(edges, at + 1);
	const low = letter(edges, at + 5) * BITS_28 + read28(edges, at + 6);
	return joinId(high, low) as Id;
}

export function sequenceAt(edges: string, edge: number): number {
	const at = edge * EDGE_LETTERS + ID_LETTERS;
	return (read28(edges, at) - SIGN) * BITS_28 + read28(edges, at + 4);
}

/** The index of the edge that leads to an id; -1 if none does. */
export function indexOfId(edges: string, to: Id): number {
	if (!writeId(SCRATCH, 0, to)) return -1;
	// The last letters differ most.
	const last = SCRATCH[ID_LETTERS - 1] as number;
	const { length } = edges;
	for (let at = ID_LETTERS - 1; at < length; at += EDGE_LETTERS) {
		if (letter(edges, at) === last && leadsThere(edges, at - ID_LETTERS + 1)) {
			return (at - ID_LETTERS + 1) / EDGE_LETTERS;
		}
	}
	return -1;
}

/** Whether an edge leads to the id that was written last. */
function leadsThere(edges: string, at: number): boolean {
	for (let index = ID_LETTERS - 2; index >= 0; index--) {
		if (letter(edges, at + index) !== SCRATCH[index]) return false;
	}
	return true;
}

/** False for what is no id. */
function writeId(into: Buffer, at: number, id: string): boolean {
	const { length } = id;
	if (length === 0 || length > MAX_ID_DIGITS) return false;
	const middle = Math.max(0, length - LOW_DIGITS);
	let high = 0;
	let low = 0;
	for (let index = 0; index < length; index++) {
		const digit = id.charCodeAt(index) - ZERO;
		if (!(digit >= 0 && digit <= 9)) return false;
		if (index < middle) high = high * 10 + digit;
		else low = low * 10 + digit;
	}
	into[at] = high >>> 28;
	write28(into, at + 1, high & (BITS_28 - 1));
	const top = Math.floor(low / BITS_28);
	into[at + 5] = top;
	write28(into, at + 6, low - top * BITS_28);
	return true;
}

function write28(into: Buffer, at: number, value: number): void {
	into[at] = value >>> 21;
	into[at + 1] = (value >>> 14) & 127;
	into[at + 2] = (value >>> 7) & 127;
	into[at + 3] = value & 127;
}

function read28(from: string, at: number): number {
	return (
		(letter(from, at) << 21) |
		(letter(from, at + 1) << 14) |
		(letter(from, at + 2) << 7) |
		letter(from, at + 3)
	);
}

function letter(from: string, at: number): number {
	return from.charCodeAt(at);
}

/**
 * The id of two numbers. It is read from bytes: what V8 puts together of two
 * strings is copied and hashed by its slow code when a map is asked for it, which
 * took twice as long as all of this.
 */
function joinId(high: number, low: number): string {
	if (high === 0) return String(low);
	const middle = MAX_ID_DIGITS - LOW_DIGITS;
	let at = MAX_ID_DIGITS;
	let left = low;
	while (left > 0 || at > middle) {
		const rest = Math.floor(left / 10);
		SPELLED[--at] = ZERO + left - rest * 10;
		left = at === middle ? high : rest;
	}
	return SPELLED.toString("latin1", at, MAX_ID_DIGITS);
}

/** Letters of an id. */
const ID_LETTERS = 10;
const BITS_28 = 2 ** 28;
/** Added to the upper part of a sequence, which may be negative. */
const SIGN = 2 ** 27;
/** Digits of the lower part of an id. Both parts of 19 digits are exact as numbers. */
const LOW_DIGITS = 10;
const MAX_ID_DIGITS = 19;
const ZERO = 48;
const SPELLED = Buffer.alloc(MAX_ID_DIGITS);
/** For the edges of most lists. */
const SCRATCH = Buffer.alloc(32 * EDGE_LETTERS);
