import { CacheEntry } from "../../cache/cacheEntry.ts";
import type { Id } from "../../id/ids.ts";
import type { Position } from "../../storage/rows.ts";

/** What a head says of its list. */
interface ListFacts {
	readonly from: Id;
	readonly count: number;
	readonly epoch: number;
	readonly complete: boolean;
}

/**
 * The first edges of a list: the newest, or the oldest in a list that begins with
 * these. All are present edges, in the mapping's order.
 *
 * An edge is three numbers of one array, and becomes an id when it is read:
 * objects with ids as strings took 130 bytes an edge and were most of what the
 * garbage collector had to visit.
 */
export class Head extends CacheEntry {
	readonly from: Id;
	/** Present edges of the list. */
	readonly count: number;
	/** Rises by one when the list is renumbered. */
	readonly epoch: number;
	/** Whether these are all edges of the list. */
	readonly complete: boolean;
	/** How many edges are here. */
	readonly size: number;
	/** Of each edge: the digits of its id before the last ten, the last ten, and its sequence. */
	readonly #numbers: readonly number[];
	/** What was read of the edges: ids first, then cursors. */
	#texts: (string | undefined)[] | null = null;
	#ids: ReadonlySet<Id> | null = null;
	/** Edges behind these, by what was asked for. */
	#pages: Map<string, Head> | null = null;
	/** Whether a standby answered: cached nowhere. */
	isStale = false;
	/** Whether `shareId` was called for the edges of a page. */
	isShared = false;

	/** `numbers`: three of each edge, as `splitId` gives them, and its sequence. */
	constructor(list: ListFacts, numbers: readonly number[]) {
		const size = numbers.length / 3;
		super(HEAD_BYTES + size * EDGE_BYTES);
		this.from = list.from;
		this.count = list.count;
		this.epoch = list.epoch;
		this.complete = list.complete;
		this.size = size;
		// An array that has grown has room for more.
		this.#numbers = numbers.slice();
	}

	static of(list: ListFacts, edges: readonly Position[]): Head {
		return new Head(list, numbersOf(edges));
	}

	/** The id that the edge leads to. */
	to(at: number): Id {
		const texts = this.#allTexts();
		let id = texts[at];
		if (id === undefined) {
			const high = this.#number(at, 0);
			const low = String(this.#number(at, 1));
			id = high === 0 ? low : high + low.padStart(LOW_DIGITS, "0");
			texts[at] = id;
		}
		return id as Id;
	}

	/** The same id as a string that others hold too. */
	shareId(at: number, id: Id): void {
		this.#allTexts()[at] = id;
	}

	sequence(at: number): number {
		return this.#number(at, 2);
	}

	position(at: number): Position {
		return { sequence: this.sequence(at), to: this.to(at) };
	}

	/** The positions of the edges from one index up to another one. */
	slice(start = 0, end = this.size): Position[] {
		const positions: Position[] = [];
		for (let at = start; at < end; at++) positions.push(this.position(at));
		return positions;
	}

	/** Whether it has that many edges, or all there are. */
	reaches(depth: number): boolean {
		return this.complete || this.size >= depth;
	}

	/** Whether the caches would have no more of the list. */
	get isDeepest(): boolean {
		return this.complete || this.size >= DEEPEST_HEAD;
	}

	/** Whether one of the edges leads there. */
	has(to: Id): boolean {
		if (this.size === 0) return false;
		this.#ids ??= new Set(
			Array.from({ length: this.size }, (_, at) => this.to(at)),
		);
		return this.#ids.has(to);
	}

	/** Whether an edge of the list leads there; undefined if the head does not say: it may be further down. */
	leadsTo(to: Id): boolean | undefined {
		return this.has(to) || (this.complete ? false : undefined);
	}

	/** The position of the edge that leads there; undefined if the head has none. */
	positionOf(to: Id): Position | undefined {
		for (let at = 0; at < this.size; at++) {
			if (this.to(at) === to) return this.position(at);
		}
		return undefined;
	}

	/** Compared with the bound, in numeric order: negative for an edge with a lower sequence, or id. */
	compare(at: number, bound: Position): number {
		const order = this.sequence(at) - bound.sequence;
		if (order !== 0) return order;
		const own = this.to(at);
		return (
			own.length - bound.to.length ||
			(own < bound.to ? -1 : own > bound.to ? 1 : 0)
		);
	}

	/** The edge's cursor, if it was spelled before. */
	cursor(at: number): string | undefined {
		return this.#texts?.[this.size + at];
	}

	keepCursor(at: number, cursor: string): void {
		this.#allTexts()[this.size + at] = cursor;
	}

	/** Edges behind these that were read before; their count and epoch are of when they were read. */
	page(key: string): Head | undefined {
		return this.#pages?.get(key);
	}

	/** Returns how many bytes that takes. */
	keepPage(key: string, page: Head): number {
		this.#pages ??= new Map();
		if (this.#pages.size >= MAX_PAGES || this.#pages.has(key)) return 0;
		this.#pages.set(key, page);
		return PAGE_BYTES + page.weight;
	}

	#number(at: number, part: 0 | 1 | 2): number {
		if (at < 0 || at >= this.size)
			throw new RangeError(`No edge ${at} of ${this.size}.`);
		return this.#numbers[at * 3 + part] as number;
	}

	#allTexts(): (string | undefined)[] {
		this.#texts ??= [];
		return this.#texts;
	}
}

/**
 * What asks an array whether it holds positions or numbers does not belong here:
 * compiled code of V8 would make each array of numbers one of objects, of twice
 * the size.
 */
function numbersOf(edges: readonly Position[]): readonly number[] {
	const numbers: number[] = [];
	for (const { to, sequence } of edges) {
		splitId(to, 0, to.length, numbers);
		numbers.push(sequence);
	}
	return numbers;
}

/** Adds the two numbers of the id between two indexes of a text; false if there is none. */
export function splitId(
	text: string,
	start: number,
	end: number,
	numbers: number[],
): boolean {
	if (end <= start || end - start > MAX_ID_DIGITS) return false;
	const middle = Math.max(start, end - LOW_DIGITS);
	let high = 0;
	let low = 0;
	for (let at = start; at < end; at++) {
		const digit = text.charCodeAt(at) - ZERO;
		if (!(digit >= 0 && digit <= 9)) return false;
		if (at < middle) high = high * 10 + digit;
		else low = low * 10 + digit;
	}
	numbers.push(high, low);
	return true;
}

/** The most edges of a head that caches share. */
export const DEEPEST_HEAD = 32;

/** Pages kept beside one head: a list has as many as clients can name. */
const MAX_PAGES = 256;
/** Of a page's key and its place in a map. */
const PAGE_BYTES = 200;

/** A cursor, in bytes. */
export const CURSOR_BYTES = 72;

/** Digits of the lower part of an id. Both parts of 19 digits are exact as numbers. */
const LOW_DIGITS = 10;
const MAX_ID_DIGITS = 19;
const ZERO = 48;
/** Bytes of the object and of its array. */
const HEAD_BYTES = 150;
/** Three numbers, and the id as a string, which most edges that are cached become. */
const EDGE_BYTES = 24 + 56;
