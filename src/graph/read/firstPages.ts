import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { KeyResult } from "../../storage/rows.ts";
import type { CallOptions } from "../../trace.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import type { Head } from "../store/head.ts";
import type { Node, Page } from "../types.ts";
import { endPages, type FirstPage, HeadPage, ReaderPage } from "./listPage.ts";
import {
	createListReader,
	type ListReader,
	type ListSources,
	readMore,
} from "./listReader.ts";

/**
 * The first page of each of many lists, straight from their heads: one read of
 * all objects of all pages, and no reader of a list unless some of its objects
 * are hidden. By the same rules as all other pages (`readPages`).
 */
export function firstPages(
	sources: ListSources,
	mapping: Mapping,
	heads: readonly KeyResult<Head>[],
	page: FirstPage,
	call: CallOptions | undefined,
): MaybePromise<readonly (Page | CorkboardError)[]> {
	const ids: Id[] = [];
	for (const head of heads) {
		if (head instanceof CorkboardError) continue;
		const end = Math.min(head.size, page.needed);
		for (let at = 0; at < end; at++) ids.push(head.to(at));
	}
	sources.onEdgesRead(ids.length);
	const nodes = ids.length === 0 ? [] : sources.readVisible(ids, call);
	return andThen(nodes, (nodes) =>
		toPages(sources, mapping, heads, nodes, page, call),
	);
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
	const { needed, size } = page;
	const pages: (Page | CorkboardError | undefined)[] = [];
	let readers: Map<number, ListReader> | null = null;
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
			readers ??= new Map();
			readers.set(at, readerFrom(mapping, head, own, needed));
			pages.push(undefined);
		} else {
			const all = own as (Node | CorkboardError)[];
			if (!head.isShared) shareIds(head, all);
			pages.push(new HeadPage(store, mapping, head, all, page));
		}
	}
	if (readers === null) return pages as (Page | CorkboardError)[];
	const started = readers;
	call?.trace?.hiddenEdges(nodes.filter((node) => node === null).length);
	const all = [...started.values()];
	const unfinished = all.filter(
		({ exhausted, visible }) => !exhausted && visible.length < needed,
	);
	return andThen(readMore(sources, unfinished, needed, call, 1), () => {
		endPages(all, size);
		for (const [at, reader] of started) {
			pages[at] = reader.error ?? new ReaderPage(store, reader);
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
