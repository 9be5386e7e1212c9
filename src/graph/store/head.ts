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
	/** What was asked of edges below these, by where they lead: null where there is none. */
	#below: Map<Id, Position | null> | null = null;
	/** Whether a standby answered: cached nowhere. */
	isStale = false;
	/** Whether `shareId` was called for the edges of a page. */
	isShared = false;

	/** Of as many edges as were given to `setEdge`. */
	constructor(list: ListFacts, size: number) {
		super(HEAD_BYTES + size * EDGE_BYTES);
		this.from = list.from;
		this.count = list.count;
		this.epoch = list.epoch;
		this.complete = list.complete;
		this.size = size;
		this.#numbers = NUMBERS.slice(0, size * 3);
	}

	static of(list: ListFacts, edges: readonly Position[]): Head {
		for (let at = 0; at < edges.length; at++) {
			const { to, sequence } = edges[at] as Position;
			if (!setEdge(at, to, 0, to.length, sequence)) {
				throw new TypeError(`An edge leads to ${to}, which is no id.`);
			}
		}
		return new Head(list, edges.length);
	}

	/** The id that the edge leads to. */
	to(at: number): Id {
		const texts = this.#allTexts();
		let id = texts[at];
		if (id === undefined) {
			id = joinId(this.#number(at, 0), this.#number(at, 1));
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

	/** The edge below these that leads there, if it was read before: null if there is none, undefined if that is not known. */
	below(to: Id): Position | null | undefined {
		return this.#below?.get(to);
	}

	/** Returns how many bytes that takes. */
	keepBelow(to: Id, edge: Position | null): number {
		this.#below ??= new Map();
		if (this.#below.size >= MAX_BELOW || this.#below.has(to)) return 0;
		this.#below.set(to, edge);
		return BELOW_BYTES;
	}

	#number(at: number, part: 0 | 1 | 2): number {
		if (at < 0 || at >= this.size)
			throw new RangeError(`No edge ${at} of ${this.size}.`);
		return this.#numbers[at * 3 + part] as number;
	}

	#allTexts(): (string | undefined)[] {
		this.#texts ??= new Array(this.size);
		return this.#texts;
	}
}

/**
 * The numbers of the edges of the next head. One array for all: each that grew
 * would be copied several times. What asks it whether it holds anything but numbers
 * does not belong here: compiled code of V8 would make it, and all copies of it,
 * arrays of objects, of twice the size.
 */
const NUMBERS: number[] = [];

/** Sets an edge of the next head, whose id is between two indexes of a text; false if there is none. */
export function setEdge(
	edge: number,
	text: string,
	start: number,
	end: number,
	sequence: number,
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
	NUMBERS[edge * 3] = high;
	NUMBERS[edge * 3 + 1] = low;
	NUMBERS[edge * 3 + 2] = sequence;
	return true;
}

/**
 * The id of two numbers that `setEdge` made. It is read from bytes: what V8 puts
 * together of two strings is copied and hashed by its slow code when a map is
 * asked for it, which took twice as long as all of this.
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

/** The most edges of a head that caches share. */
export const DEEPEST_HEAD = 32;

/** Pages kept beside one head: a list has as many as clients can name. */
const MAX_PAGES = 256;
/** Of a page's key and its place in a map. */
const PAGE_BYTES = 200;

/** Edges below one head that are kept beside it. */
const MAX_BELOW = 1_024;
/** Of an id, a position, and their place in a map. */
const BELOW_BYTES = 150;

/** A cursor, in bytes. */
export const CURSOR_BYTES = 72;

/** Digits of the lower part of an id. Both parts of 19 digits are exact as numbers. */
const LOW_DIGITS = 10;
const MAX_ID_DIGITS = 19;
const SPELLED = Buffer.alloc(MAX_ID_DIGITS);
const ZERO = 48;
/** Bytes of the object and of its array. */
const HEAD_BYTES = 150;
/** Three numbers, and the id as a string, which most edges that are cached become. */
const EDGE_BYTES = 24 + 56;
