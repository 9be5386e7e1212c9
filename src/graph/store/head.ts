import { CacheEntry } from "../../cache/cacheEntry.ts";
import type { Id } from "../../id/ids.ts";
import type { ListRow, Position } from "../../storage/rows.ts";
import { LastInTurn } from "../../util/lastInTurn.ts";
import {
	countOf,
	idAt,
	indexOfId,
	packEdges,
	sequenceAt,
} from "./packedEdges.ts";

/** What a head says of its list. */
interface ListFacts {
	readonly from: Id;
	readonly count: number;
	readonly epoch: number;
	readonly complete: boolean;
}

/**
 * The first edges of a list: the newest, or the oldest in a list that begins with
 * these. All are present edges, in the mapping's order. They are one text, of which
 * what is asked for becomes ids and sequences.
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
	/** As `packEdges` makes them. */
	readonly edges: string;
	/** What was read of the edges: ids of the first ones, and cursors by the index of their edge. Only the heads that were read last have it. */
	#ids: (Id | undefined)[] | null = null;
	#cursors: Map<number, string> | null = null;
	/** Whether a standby answered: cached nowhere. */
	isStale = false;
	/** Whether `shareId` was called for the edges of a page. */
	isShared = false;

	constructor(list: ListFacts, edges: string) {
		super(HEAD_BYTES + edges.length);
		this.from = list.from;
		this.count = list.count;
		this.epoch = list.epoch;
		this.complete = list.complete;
		this.size = countOf(edges) ?? 0;
		this.edges = edges;
	}

	static of(list: ListFacts, edges: readonly Position[]): Head {
		return new Head(list, packEdges(edges));
	}

	override pack(into: Buffer): number {
		const { count, epoch, complete, edges } = this;
		if (EDGES_AT + edges.length > into.length) return -1;
		// A damaged row may have any number.
		if (!(count >= 0 && count <= MAX_COUNT)) return -1;
		if (!(epoch >= 0 && epoch <= MAX_EPOCH)) return -1;
		into.writeUIntLE(count, 0, 6);
		into.writeUInt32LE(epoch, 6);
		into[10] = complete ? 1 : 0;
		return EDGES_AT + into.write(edges, EDGES_AT, "latin1");
	}

	/** The same head as `pack` wrote there. */
	static unpacked(from: Id, bytes: Buffer, start: number, end: number): Head {
		const list = {
			from,
			count: bytes.readUIntLE(start, 6),
			epoch: bytes.readUInt32LE(start + 6),
			complete: bytes[start + 10] === 1,
		};
		return new Head(list, bytes.toString("latin1", start + EDGES_AT, end));
	}

	/** As Redis has it: a text that says of which list it is, `4|from|count|epoch|complete|edges`. */
	encoded(): string {
		const { from, count, epoch, complete, edges } = this;
		return `${VERSION}|${from}|${count}|${epoch}|${complete ? 1 : 0}|${edges}`;
	}

	/** Null if `encoded` did not return the text for the list of `from`. The head has the string `from`, and of the text the edges. */
	static decoded(from: Id, text: string): Head | null {
		const own = `${VERSION}|${from}|`;
		if (!text.startsWith(own)) return null;
		const countEnd = text.indexOf("|", own.length);
		const epochEnd = text.indexOf("|", countEnd + 1);
		const count = readInteger(text, own.length, countEnd);
		const epoch = readInteger(text, countEnd + 1, epochEnd);
		const edgesAt = epochEnd + 3;
		if (count === null || epoch === null || text[edgesAt - 1] !== "|") {
			return null;
		}
		const edges = text.slice(edgesAt);
		if (countOf(edges) === null) return null;
		const complete = text[edgesAt - 2] === "1";
		return new Head({ from, count, epoch, complete }, edges);
	}

	/** The id that the edge leads to. */
	to(at: number): Id {
		const kept = this.#ids?.[at];
		if (kept !== undefined) return kept;
		const id = idAt(this.edges, this.#checked(at));
		this.shareId(at, id);
		return id;
	}

	/** The same id as a string that others hold too. */
	shareId(at: number, id: Id): void {
		if (at >= KEPT_IDS) return;
		if (this.#ids === null) {
			this.#ids = new Array(Math.min(this.size, KEPT_IDS));
			if (this.#cursors === null) this.#noteSpelled();
		}
		this.#ids[at] = id;
	}

	sequence(at: number): number {
		return sequenceAt(this.edges, this.#checked(at));
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

	/** Whether one of the edges leads there. */
	has(to: Id): boolean {
		return indexOfId(this.edges, to) >= 0;
	}

	/** Whether an edge of the list leads there; undefined if the head does not say: it may be further down. */
	leadsTo(to: Id): boolean | undefined {
		return this.has(to) || (this.complete ? false : undefined);
	}

	/** The position of the edge that leads there; undefined if the head has none. */
	positionOf(to: Id): Position | undefined {
		const at = indexOfId(this.edges, to);
		return at < 0 ? undefined : { sequence: this.sequence(at), to };
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
		return this.#cursors?.get(at);
	}

	keepCursor(at: number, cursor: string): void {
		if (this.#cursors === null) {
			this.#cursors = new Map();
			if (this.#ids === null) this.#noteSpelled();
		}
		this.#cursors.set(at, cursor);
	}

	/** What no cache has takes no place among those that stay spelled: nobody reads it again. */
	#noteSpelled(): void {
		if (this.home !== null) SPELLED.add(this);
	}

	#checked(at: number): number {
		if (at < 0 || at >= this.size)
			throw new RangeError(`No edge ${at} of ${this.size}.`);
		return at;
	}

	/**
	 * The head of the list once it has one more edge, which comes first. Null if that is
	 * not how the list came from this head: its row was `before`, and is `after`.
	 * Without edges the count says all. Else an edge that is missing here has raised the
	 * last sequence or the count, unless another one was removed and both are older
	 * than the last: then the new head lacks what this one lacked.
	 */
	withFirst(first: Position, before: ListRow, after: ListRow): Head | null {
		const { from, count, epoch, complete, size } = this;
		const isBefore =
			before.count === count &&
			before.epoch === epoch &&
			(size === 0 || before.lastSequence === this.sequence(0));
		const isAfter =
			after.count === count + 1 &&
			after.epoch === epoch &&
			(size === 0 || this.compare(0, first) < 0);
		if (!isBefore || !isAfter || size >= DEEPEST_HEAD) return null;
		if (this.has(first.to)) return null;
		const edges = [first, ...this.slice()];
		return Head.of(
			{ from, count: count + 1, epoch, complete },
			// As deep as before, if there are more.
			complete ? edges : edges.slice(0, size),
		);
	}

	static readonly letGo = (head: Head): void => {
		head.#ids = null;
		head.#cursors = null;
		head.isShared = false;
	};
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

const VERSION = "4";
const MAX_DIGITS = 16;
const ZERO = 48;

/** Before the edges of a packed head. */
const EDGES_AT = 11;
const MAX_COUNT = 2 ** 48 - 1;
const MAX_EPOCH = 2 ** 32 - 1;

/** Spelled heads of all caches. */
const SPELLED = new LastInTurn<Head>(4_096, Head.letGo);

/** The most edges that a list is kept whole with, so that the caches say what it leads to. */
export const DEEPEST_HEAD = 2_048;

/** A page further down than that many edges is read from the shard: each change of the list would read all edges before it again. */
export const DEEPEST_PAGE = 256;

/** Edges that are read where it is not known how many are wanted: those of a default page, one more to decide whether another page follows, and some that may be hidden. */
export const USUAL_DEPTH = 32;

/** Most pages are first ones. */
const KEPT_IDS = 32;
/** Bytes of the object and of its text. */
const HEAD_BYTES = 200;
