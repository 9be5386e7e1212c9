import type { CorkboardError } from "../../errors.ts";
import type { Mapping } from "../../model/types.ts";
import { listName } from "../../storage/keys.ts";
import type { Head } from "../store/head.ts";
import type { ReadStore } from "../store/store.ts";
import type { Node, Page, PageEdge } from "../types.ts";
import type { ListReader } from "./listReader.ts";
import type { EpochPosition } from "./scanLists.ts";

type Nodes = readonly (Node | CorkboardError)[];

/** The common page: from the beginning of a list, with no cursor from the client. */
export interface FirstPage {
	readonly size: number;
	/** Objects to read: one more than the size to decide whether another page follows. */
	readonly needed: number;
}

/** A page, whose edges and cursors are made when they are asked for: a client asks for one end mostly. */
abstract class ListPage implements Page {
	abstract readonly nodes: Nodes;
	abstract readonly hasNextPage: boolean;
	abstract readonly hasPreviousPage: boolean;
	abstract readonly startCursor: string | null;
	abstract readonly endCursor: string | null;
	abstract readonly totalCount: number | null;

	/** The sequence of an edge, in the order of the page. */
	abstract sequence(at: number): number;
	abstract cursor(at: number): string;

	get edges(): readonly PageEdge[] {
		return this.nodes.map((node, at) => new ListEdge(this, node, at));
	}
}

class ListEdge implements PageEdge {
	readonly node: Node | CorkboardError;
	readonly #page: ListPage;
	readonly #at: number;

	constructor(page: ListPage, node: Node | CorkboardError, at: number) {
		this.node = node;
		this.#page = page;
		this.#at = at;
	}

	cursor(): string {
		return this.#page.cursor(this.#at);
	}

	get sequence(): number {
		return this.#page.sequence(this.#at);
	}
}

/** The page of the first edges of a head. */
export class HeadPage extends ListPage {
	readonly nodes: Nodes;
	readonly hasNextPage: boolean;
	readonly hasPreviousPage = false;
	readonly totalCount: number;
	readonly #store: ReadStore;
	readonly #mapping: Mapping;
	readonly #head: Head;

	constructor(
		store: ReadStore,
		mapping: Mapping,
		head: Head,
		/** With one more than the page has, if that decides whether another one follows. */
		nodes: (Node | CorkboardError)[],
		{ size, needed }: FirstPage,
	) {
		super();
		this.#store = store;
		this.#mapping = mapping;
		this.#head = head;
		this.hasNextPage = nodes.length > size || nodes.length === needed;
		if (nodes.length > size) nodes.pop();
		this.nodes = nodes;
		this.totalCount = head.count;
	}

	get startCursor(): string | null {
		return this.#boundary(0);
	}

	get endCursor(): string | null {
		return this.#boundary(this.nodes.length - 1);
	}

	sequence(at: number): number {
		return this.#head.sequence(at);
	}

	cursor(at: number): string {
		const end = this.nodes.length;
		return this.#store.cursorOf(this.#mapping, this.#head, at, end);
	}

	/** The cursor of one edge alone. */
	#boundary(at: number): string | null {
		return this.nodes.length === 0
			? null
			: this.#store.cursorOf(this.#mapping, this.#head, at);
	}
}

/** The page that a reader has read, once `endPages` has cut it. */
export class ReaderPage extends ListPage {
	readonly nodes: Nodes;
	readonly hasNextPage: boolean;
	readonly hasPreviousPage: boolean;
	readonly totalCount: number | null;
	readonly #store: ReadStore;
	readonly #list: string;
	/** Null of a page without edges. */
	readonly #start: EpochPosition | null;
	readonly #end: EpochPosition | null;
	/** Each with its own epoch: the list may have been renumbered since the first was read. */
	readonly #positions: readonly EpochPosition[];
	#cursors: readonly string[] | null = null;

	constructor(
		store: ReadStore,
		{ key, backward, cutAt, count, ...reader }: ListReader,
	) {
		super();
		this.#store = store;
		this.#list = listName(key.mapping, key.from);
		const visible = backward ? reader.visible.toReversed() : reader.visible;
		this.#positions = visible.map(({ edge }) => edge);
		this.nodes = visible.map(({ node }) => node);
		this.totalCount = count;
		const start = this.#positions[0] ?? null;
		const end = this.#positions.at(-1) ?? null;
		this.#start = backward ? (cutAt ?? start) : start;
		this.#end = backward ? end : (cutAt ?? end);
		const { hasMore, hasPreceding } = reader;
		this.hasNextPage = backward ? hasPreceding : hasMore;
		this.hasPreviousPage = backward ? hasMore : hasPreceding;
	}

	get startCursor(): string | null {
		return this.#encode(this.#start);
	}

	get endCursor(): string | null {
		return this.#encode(this.#end);
	}

	sequence(at: number): number {
		return (this.#positions[at] as EpochPosition).sequence;
	}

	/** A client that selects the cursor of one edge selects that of each. */
	cursor(at: number): string {
		const { cursors } = this.#store;
		this.#cursors ??= cursors.encodeAll(this.#list, this.#positions);
		return this.#cursors[at] as string;
	}

	#encode(position: EpochPosition | null): string | null {
		return position === null
			? null
			: this.#store.cursors.encode(this.#list, position);
	}
}

/** A page at the end of a list which may continue, though nothing follows now. */
export class OpenPage implements Page {
	readonly hasNextPage = true;
	readonly #page: Page;
	readonly #after: string | null;

	/** `after`: where an empty page began, so that the next one begins there too. */
	constructor(page: Page, after: string | null) {
		this.#page = page;
		this.#after = after;
	}

	get endCursor(): string | null {
		return this.#page.endCursor ?? this.#after;
	}

	get edges(): readonly PageEdge[] {
		return this.#page.edges;
	}

	get nodes(): Nodes {
		return this.#page.nodes;
	}

	get hasPreviousPage(): boolean {
		return this.#page.hasPreviousPage;
	}

	get startCursor(): string | null {
		return this.#page.startCursor;
	}

	get totalCount(): number | null {
		return this.#page.totalCount;
	}
}

/** Cuts what readers have read to pages of that size, and decides whether more follows. */
export function endPages(readers: readonly ListReader[], size: number): void {
	for (const reader of readers) {
		reader.hasMore = reader.visible.length > size || !reader.exhausted;
		reader.visible.splice(size);
		// The next page must start after the last edge scanned, or it would scan the
		// same hidden edges again.
		if (!reader.exhausted && reader.visible.length < size)
			reader.cutAt = reader.lastScanned;
	}
}
