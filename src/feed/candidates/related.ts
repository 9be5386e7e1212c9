import { CorkboardError } from "../../errors.ts";
import { View } from "../../graph/read/view.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Graph, Node, PageArguments } from "../../graph/types.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { type FeedModel, idAt } from "../feedModel.ts";
import type { PoolEntry } from "../pools/pools.ts";
import { scoreOf } from "../scores.ts";
import { RELATED } from "../sources.ts";
import { rootOrigins } from "./origins.ts";

/** How far the walk goes: copies of the item, items that stand together, and related items that are kept. */
const COPIES = 20;
const ITEMS_OF_GROUP = 10;
const KEPT = 20;

/** The most objects that are read for one item: itself, its copies, and the items of each group. */
export const RELATED_COST = 1 + COPIES + (COPIES + 1) * ITEMS_OF_GROUP;

/**
 * Items that stand next to one: from it to its copies, to what these stand on, to
 * the newest items there. Items that are met more often come first. At
 * most 231 objects (RELATED_COST) are read. Nothing of the user's own, and nothing that the user may
 * not see; empty for an item that is gone. Throws UNAVAILABLE.
 */
export async function relatedTo(
	{ store, model }: { readonly store: Store; readonly model: FeedModel },
	user: Id | null,
	item: Id,
): Promise<readonly PoolEntry[]> {
	const { related } = model;
	if (related === null) return [];
	const graph = new View(store, user);
	const [seed] = valuesOf(await graph.readObjects([item]));
	if (!seed) return [];
	const [root = item] = await rootOrigins({ store, model }, [seed]);
	const copies =
		related.copies === null
			? []
			: await pagesOf(graph, related.copies, [root], COPIES);
	const groups = new Set(
		[seed, ...copies.flat()].flatMap(
			({ data }) => idAt(data, related.key) ?? [],
		),
	);
	const items = (
		await pagesOf(graph, related.together, [...groups], ITEMS_OF_GROUP)
	).flat();
	const origins = await rootOrigins({ store, model }, items);
	const met = new Map<Id, { readonly item: Node; times: number }>();
	for (const [at, found] of items.entries()) {
		const origin = origins[at] as Id;
		if (origin === root || model.ownerOf(found.data) === user) continue;
		const known = met.get(origin);
		if (known === undefined) met.set(origin, { item: found, times: 1 });
		else known.times++;
	}
	return [...met]
		.toSorted(([, a], [, b]) => b.times - a.times)
		.slice(0, KEPT)
		.map(([origin, { item: found, times }]) => ({
			source: RELATED,
			via: item,
			item: found.id,
			origin,
			score: scoreOf({ quality: times, createdAt: 0, halfLifeMs: null }),
		}));
}

/** The objects of the newest edges of each list. */
async function pagesOf(
	graph: Graph,
	mapping: Mapping,
	froms: readonly Id[],
	first: number,
): Promise<readonly (readonly Node[])[]> {
	const page: PageArguments = {
		first,
		fields: {
			edges: true,
			hasNextPage: false,
			hasPreviousPage: false,
			cursors: false,
			totalCount: false,
		},
	};
	const pages = valuesOf(await graph.readPages(mapping, froms, page));
	return pages.map((each) =>
		valuesOf((each?.edges ?? []).map(({ node }) => node)),
	);
}

function valuesOf<T>(results: readonly (T | CorkboardError)[]): readonly T[] {
	return results.map((result) => {
		if (result instanceof CorkboardError) throw result;
		return result;
	});
}
