import { View } from "../../graph/read/view.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Id } from "../../id/ids.ts";
import type { FeedModel } from "../feedModel.ts";
import type { PoolEntry } from "../pools/pools.ts";
import { HALF_LIFE_MS, SCORE_UNIT, scoreOf } from "../scores.ts";
import { followedBy, type NewestOptions, newestOf } from "./newest.ts";
import type { PulledProducers } from "./pulledProducers.ts";

/** How many of each kind that a user follows are looked at, and how many are read. */
const FOLLOWED = 200;
const READ = 40;
/** Newest items of each; their lists are in caches for everybody who follows them. */
const ITEMS = 20;
/** An item is found though it was made a little before the last look: lists have it later than it is dated. Milliseconds. */
const OVERLAP_MS = 60_000;

/**
 * Items of those whom the user follows and who do not push them: all of sources that push
 * nothing, and others with very many followers. Only items since the last look.
 */
export async function newestOfPulled(
	{ store, model }: { readonly store: Store; readonly model: FeedModel },
	pulled: Pick<PulledProducers, "has" | "size">,
	user: Id,
	/** Milliseconds since 1970; 0: ever. */
	since: number,
	options: Pick<NewestOptions, "onUnread"> = {},
): Promise<readonly PoolEntry[]> {
	const graph = new View(store, user);
	const isPulled = new Set(
		model.followed.flatMap(({ source, key }) => (key === null ? [source] : [])),
	);
	const producers = (await followedBy(model, graph, user, FOLLOWED))
		.filter(({ source, via }) => isPulled.has(source) || pulled.has(via))
		.slice(0, READ);
	if (producers.length === 0) return [];
	const entries = await newestOf(
		{ store, model },
		graph,
		producers,
		ITEMS,
		options,
	);
	// A score grows with the time at which the item was made.
	const least =
		scoreOf({
			quality: 0,
			createdAt: Math.max(0, since - OVERLAP_MS),
			halfLifeMs: HALF_LIFE_MS,
		}) -
		SCORE_UNIT / HALF_LIFE_MS;
	return entries.filter(({ score }) => score >= least);
}
