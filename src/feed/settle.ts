import { createWrites } from "../graph/write/createWrites.ts";
import type { Id } from "../id/ids.ts";
import type { EdgeKey } from "../storage/rows.ts";
import { DECISIVE } from "../trace.ts";
import type { FeedParts } from "./parts.ts";
import type { PoolEntry } from "./pools/pools.ts";

/** Items that a feed keeps; older ones are removed from its end. */
export const MAX_FEED = 1_000;
/** Items that one call removes from the end of a feed. */
const TRIM_LIMIT = 500;
/** What a pool keeps: waiting items of each source, and for how long what was shown. */
const WAITING_PER_SOURCE = 500;
const SETTLED_MS = 30 * 86_400_000;

/**
 * Brings the pool of a user in line with its feed, and both to their bounds: waiting items
 * that the feed has, or had, become taken. A look at the feed does this for the items
 * that it added; this finds what a look that died left behind. Repeating it changes
 * nothing.
 */
export async function settleFeed(parts: FeedParts, user: Id): Promise<void> {
	const { pools, store, model } = parts;
	const limits = Object.fromEntries(
		model.sources.names.map((source) => [source, WAITING_PER_SOURCE]),
	);
	const waiting = await pools.best(user, limits);
	const mapping = model.list;
	const keys: readonly EdgeKey[] = waiting.map(({ item }) => ({
		mapping,
		from: user,
		to: item,
	}));
	const edges = await store.storage.read("edges", keys, DECISIVE);
	const taken: PoolEntry[] = [];
	for (const [at, entry] of waiting.entries()) {
		const edge = edges[at] ?? null;
		if (edge instanceof Error) throw edge;
		if (edge !== null) taken.push(entry);
	}
	await settleInParts(parts, user, { taken, dropped: [] });
	await trimFeed(parts, user);
	await trimPool(parts, user);
}

/** `settle` for any number of items. */
export async function settleInParts(
	{ pools, now }: FeedParts,
	user: Id,
	settled: {
		readonly taken: readonly PoolEntry[];
		readonly dropped: readonly PoolEntry[];
	},
): Promise<void> {
	const SIZE = 500;
	const { taken, dropped } = settled;
	for (let at = 0; at < Math.max(taken.length, dropped.length); at += SIZE) {
		const part = {
			taken: taken.slice(at, at + SIZE),
			dropped: dropped.slice(at, at + SIZE),
		};
		await pools.settle(user, part, now());
	}
}

/** The last item of a feed; null if there is none. Throws if that cannot be read. */
export async function endOfFeed(
	{ store, model }: FeedParts,
	user: Id,
): Promise<Id | null> {
	const mapping = model.list;
	const [end] = await store.storage.read(
		"lists",
		[{ mapping, from: user, backward: true, limit: 1 }],
		DECISIVE,
	);
	if (end instanceof Error) throw end;
	return end?.edges[0]?.to ?? null;
}

/** Removes what is behind the first MAX_FEED items. */
export async function trimFeed(parts: FeedParts, user: Id): Promise<void> {
	const { store, model } = parts;
	const mapping = model.list;
	const [head] = await store.readHeads([{ mapping, from: user }], 1);
	if (head instanceof Error) throw head;
	const tooMany = (head?.count ?? 0) - MAX_FEED;
	if (tooMany <= 0) return;
	const [last] = await store.storage.read("lists", [
		{
			mapping,
			from: user,
			backward: true,
			limit: Math.min(tooMany, TRIM_LIMIT),
		},
	]);
	if (last instanceof Error) throw last;
	const remove = (last?.edges ?? []).map(({ to }) => to);
	await createWrites(store).setEdges(mapping, user, { add: [], remove });
}

export async function trimPool(
	{ pools, now }: FeedParts,
	user: Id,
): Promise<void> {
	await pools.trim(user, {
		waitingPerSource: WAITING_PER_SOURCE,
		settledAfter: now() - SETTLED_MS,
	});
}
