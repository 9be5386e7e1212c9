import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { KeyResult } from "../../storage/storage.ts";
import type { CallOptions } from "../../trace.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import type { Head } from "../store/head.ts";
import type { Store } from "../store/store.ts";
import type { Node, Page, PageEdge, PageFields } from "../types.ts";
import {
	createListReader,
	type ListReader,
	type ListSources,
	readMore,
} from "./listReader.ts";
import { endPages, toPage } from "./readerPage.ts";

/** The common page: from the beginning of a list, with no cursor from the client. */
export interface FirstPage {
	readonly size: number;
	/** Objects to read: one more than the size to decide whether another page follows. */
	readonly needed: number;
	readonly fields: PageFields;
}

/**
 * The first page of each of many lists, straight from their heads: one read of
 * all objects of all pages, and no reader of a list unless some of its objects
 * are hidden. By the same rules as all other pages (`readPages`).
 */
export function readFirstPages(
	sources: ListSources,
	mapping: Mapping,
	froms: readonly Id[],
	page: FirstPage,
	call: CallOptions | undefined,
): MaybePromise<readonly (Page | CorkboardError)[]> {
	const { needed } = page;
	const lists = froms.map((from) => ({ mapping, from }));
	return andThen(sources.store.readHeads(lists, needed, call), (heads) => {
		const ids: Id[] = [];
		for (const head of heads) {
			if (head instanceof CorkboardError) continue;
			const end = Math.min(head.size, needed);
			for (let at = 0; at < end; at++) ids.push(head.to(at));
		}
		sources.onEdgesRead(ids.length);
		const nodes = ids.length === 0 ? [] : sources.readVisible(ids, call);
		return andThen(nodes, (nodes) =>
			toPages(sources, mapping, heads, nodes, page, call),
		);
	});
}

/** `nodes` are those of the first edges of all heads, one after another. */
function toPages(
	sources: ListSources,
	mapping: Mapping,
	heads: readonly KeyResult<Head>[],
	nodes: readonly KeyResult<Node | null>[],
	page: FirstPage,
	call: CallOptions | undefined,
): MaybePromise<readonly (Page | CorkboardError)[]> {
	const { store } = sources;
	const { needed, fields } = page;
	const pages: (Page | CorkboardError | undefined)[] = [];
	let readers: { readonly at: number; readonly reader: ListReader }[] | null =
		null;
	let start = 0;
	for (let at = 0; at < heads.length; at++) {
		const head = heads[at] as KeyResult<Head>;
		if (head instanceof CorkboardError) {
			pages.push(head);
			continue;
		}
		const end = start + Math.min(head.size, needed);
		const own = nodes.slice(start, end);
		start = end;
		if (own.includes(null)) {
			readers ??= [];
			readers.push({ at, reader: readerFrom(mapping, head, own, needed) });
			pages.push(undefined);
		} else {
			const all = own as (Node | CorkboardError)[];
			if (!head.isShared) shareIds(head, all);
			pages.push(new HeadPage(store, mapping, head, all, page));
		}
	}
	if (readers === null) return pages as (Page | CorkboardError)[];
	call?.trace?.hiddenEdges(nodes.filter((node) => node === null).length);
	const started = readers;
	const all = started.map(({ reader }) => reader);
	const unfinished = all.filter(
		({ exhausted, visible }) => !exhausted && visible.length < needed,
	);
	return andThen(readMore(sources, unfinished, needed, call, 1), () => {
		endPages(all, page.size);
		for (const { at, reader } of started) {
			pages[at] = reader.error ?? toPage(store, reader, fields);
		}
		return pages as (Page | CorkboardError)[];
	});
}

/** A reader that has scanned the first edges of a head and found some hidden. */
function readerFrom(
	mapping: Mapping,
	head: Head,
	nodes: readonly KeyResult<Node | null>[],
	needed: number,
): ListReader {
	const { from, count, epoch } = head;
	const reader = createListReader({ mapping, from }, false, {
		after: undefined,
		before: undefined,
	});
	for (const [at, node] of nodes.entries()) {
		if (node === null) continue;
		reader.visible.push({ edge: { ...head.position(at), epoch }, node });
	}
	reader.lastScanned = { ...head.position(nodes.length - 1), epoch };
	reader.count = count;
	reader.exhausted = nodes.length < needed;
	return reader;
}

/** Most objects are in the process too, and have their ids as strings already. */
function shareIds(head: Head, nodes: readonly (Node | CorkboardError)[]): void {
	for (const [at, node] of nodes.entries()) {
		if (!(node instanceof CorkboardError)) head.shareId(at, node.id);
	}
	head.isShared = true;
}

/** A page whose edges are the first ones of a head. */
class HeadPage implements Page {
	readonly nodes: readonly (Node | CorkboardError)[];
	readonly hasNextPage: boolean;
	readonly hasPreviousPage = false;
	readonly totalCount: number;
	readonly startCursor: string | null;
	readonly endCursor: string | null;
	readonly #store: Store;
	readonly #mapping: Mapping;
	readonly #head: Head;

	constructor(
		store: Store,
		mapping: Mapping,
		head: Head,
		nodes: (Node | CorkboardError)[],
		{ size, needed, fields }: FirstPage,
	) {
		this.#store = store;
		this.#mapping = mapping;
		this.#head = head;
		this.hasNextPage = nodes.length > size || nodes.length === needed;
		if (nodes.length > size) nodes.pop();
		this.nodes = nodes;
		this.totalCount = head.count;
		const hasCursors = fields.cursors && nodes.length > 0;
		const cursorAt = (at: number) => store.cursorOf(mapping, head, at);
		this.startCursor = hasCursors ? cursorAt(0) : null;
		this.endCursor = hasCursors ? cursorAt(nodes.length - 1) : null;
	}

	get edges(): readonly PageEdge[] {
		return this.nodes.map((node, at) => new HeadEdge(this, node, at));
	}

	cursor(at: number): string {
		const end = this.nodes.length;
		return this.#store.cursorOf(this.#mapping, this.#head, at, end);
	}

	sequence(at: number): number {
		return this.#head.sequence(at);
	}
}

class HeadEdge implements PageEdge {
	readonly node: Node | CorkboardError;
	readonly #page: HeadPage;
	readonly #at: number;

	constructor(page: HeadPage, node: Node | CorkboardError, at: number) {
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
