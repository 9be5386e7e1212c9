import { listName } from "../../storage/keys.ts";
import type { Store } from "../store/store.ts";
import type { Page, PageArguments, PageEdge } from "../types.ts";
import type { ListReader, PageBound } from "./listReader.ts";
import type { EpochPosition } from "./scanLists.ts";

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

/** The page that a reader has read. */
export function toPage(
	store: Store,
	reader: ListReader,
	fields: PageArguments["fields"],
): Page {
	const list = listName(reader.key.mapping, reader.key.from);
	// Each position with its own epoch: the list may have been renumbered since the first was read.
	const encode = (position: EpochPosition) =>
		store.cursors.encode(list, position);
	// Who selects the cursor of one edge selects that of each.
	let cursors: readonly string[] | null = null;
	const cursorAt = (at: number) => {
		cursors ??= store.cursors.encodeAll(
			list,
			reader.visible.map(({ edge }) => edge),
		);
		return cursors[at] as string;
	};
	const edges = reader.visible.map(
		({ edge, node }, at): PageEdge => ({
			node,
			sequence: edge.sequence,
			cursor: () => cursorAt(at),
		}),
	);
	const first: PageBound = reader.visible[0]?.edge;
	const last: PageBound = reader.cutAt ?? reader.visible.at(-1)?.edge;
	const cursor = (position: PageBound) =>
		fields.cursors && position !== undefined ? encode(position) : null;
	if (reader.backward) edges.reverse();
	const nodes = edges.map(({ node }) => node);
	return reader.backward
		? {
				edges,
				nodes,
				hasNextPage: reader.hasPreceding,
				hasPreviousPage: reader.hasMore,
				startCursor: cursor(last),
				endCursor: cursor(first),
				totalCount: reader.count,
			}
		: {
				edges,
				nodes,
				hasNextPage: reader.hasMore,
				hasPreviousPage: reader.hasPreceding,
				startCursor: cursor(first),
				endCursor: cursor(last),
				totalCount: reader.count,
			};
}
