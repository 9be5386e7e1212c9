import { CorkboardError } from "../../errors.ts";
import { View } from "../../graph/read/view.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Graph, Node, PageArguments } from "../../graph/types.ts";
import type { Id } from "../../id/ids.ts";
import type { PoolEntry } from "../pools/pools.ts";
import { scoreOf } from "../scores.ts";
import { mappingOf } from "./newest.ts";
import { rootOrigins } from "./origins.ts";

/** How far the walk goes: repins of the picture, pins of each board, and related pins that are kept. */
const REPINS = 20;
const PINS_OF_BOARD = 10;
const KEPT = 20;

/**
 * Pins that stand next to a picture: from it to those who saved it, to the boards they
 * saved it on, to the newest pins there. Pins that are met more often come first. At
 * most 231 objects are read. Nothing of the user's own, and nothing that the user may
 * not see; empty for a pin that is gone. Throws UNAVAILABLE.
 */
export async function relatedTo(
	store: Store,
	user: Id,
	pin: Id,
): Promise<readonly PoolEntry[]> {
	const graph = new View(store, user);
	const [seed] = valuesOf(await graph.readObjects([pin]));
	if (!seed) return [];
	const [root = pin] = await rootOrigins(store, [seed]);
	const repins = await pagesOf(graph, "repin", [root], REPINS);
	const boards = new Set(
		[seed, ...repins.flat()].flatMap(({ data }) =>
			typeof data.board_id === "string" ? [data.board_id as Id] : [],
		),
	);
	const pins = (
		await pagesOf(graph, "placePin", [...boards], PINS_OF_BOARD)
	).flat();
	const origins = await rootOrigins(store, pins);
	const met = new Map<Id, { readonly pin: Node; times: number }>();
	for (const [at, found] of pins.entries()) {
		const origin = origins[at] as Id;
		if (origin === root || found.data.user_id === user) continue;
		const known = met.get(origin);
		if (known === undefined) met.set(origin, { pin: found, times: 1 });
		else known.times++;
	}
	return [...met]
		.toSorted(([, a], [, b]) => b.times - a.times)
		.slice(0, KEPT)
		.map(([origin, { pin: found, times }]) => ({
			source: "related",
			via: pin,
			pin: found.id,
			origin,
			score: scoreOf({ quality: times, createdAt: 0, halfLifeMs: null }),
		}));
}

/** The objects of the newest edges of each list. */
async function pagesOf(
	graph: Graph,
	mapping: string,
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
	const pages = valuesOf(
		await graph.readPages(mappingOf(graph, mapping), froms, page),
	);
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
