import { CorkboardError } from "../../errors.ts";
import {
	matchesPrefix,
	type PrefixQuery,
	prefixQuery,
} from "../../model/prefixes.ts";
import type { Mapping } from "../../model/types.ts";
import type { CallOptions } from "../../trace.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import { prefixListId, prefixTexts } from "../store/derivedLists.ts";
import type { ReadStore } from "../store/store.ts";
import type { Graph, Node } from "../types.ts";

/** Edges that are read of a list by prefix where not all of them match. */
const MOST_EDGES = 100;

const ONLY_EDGES = {
	edges: true,
	hasNextPage: false,
	hasPreviousPage: false,
	cursors: false,
	totalCount: false,
};

/** The most edges that `findByPrefix` reads, and as many objects. */
export function edgesByPrefix(text: string, first: number): number {
	const query = first > 0 ? prefixQuery(text) : null;
	return query === null ? 0 : edgesOf(query, first);
}

function edgesOf({ isWhole }: PrefixQuery, first: number): number {
	return isWhole ? first : MOST_EDGES;
}

/**
 * `Graph.findByPrefix`. One list has all candidates: that of the longest word.
 * It may have others too, behind a longer beginning or by a hash that two share,
 * so names are compared; and names that changed since the edge was written.
 */
export function findByPrefix(
	store: ReadStore,
	readPages: Graph["readPages"],
	mapping: Mapping,
	text: string,
	first: number,
	call?: CallOptions,
): MaybePromise<readonly (Node | CorkboardError)[]> {
	const query = prefixQuery(text);
	const type = store.model.objects.get(mapping.to);
	if (query === null || type === undefined || first === 0) return [];
	const list = prefixListId(store, type, query.prefix);
	const page = { first: edgesOf(query, first), fields: ONLY_EDGES };
	return andThen(readPages(mapping, [list], page, call), ([found]) => {
		if (found instanceof CorkboardError) throw found;
		return (found?.nodes ?? [])
			.filter(
				(node) =>
					node instanceof CorkboardError ||
					matchesPrefix(prefixTexts(mapping, node.data), query),
			)
			.slice(0, first);
	});
}
