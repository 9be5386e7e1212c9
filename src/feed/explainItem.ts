import { CorkboardError } from "../errors.ts";
import { View } from "../graph/read/view.ts";
import type { Graph, Node } from "../graph/types.ts";
import type { Id } from "../id/ids.ts";
import type { Mapping } from "../model/types.ts";
import { PRESENT } from "../storage/rows.ts";
import type { Producer } from "./candidates/newest.ts";
import { rootOrigins } from "./candidates/origins.ts";
import { type FeedModel, idAt } from "./feedModel.ts";
import { ACTIVE_MS, chooseFor, type LeftOutReason } from "./generator.ts";
import type { FeedParts } from "./parts.ts";
import type { PoolEntry } from "./pools/pools.ts";

/**
 * Where an item stands for one user:
 *
 * - `listed`: it is in the feed.
 * - `removed`: it was; the user hid it, unfollowed what it came through, or it was among the oldest.
 * - `next`: the next look adds it.
 * - `behind`: it waits in the pool behind so many of its source that the next look does not consider it.
 * - `notFollowed`: the user follows nothing that it could come through.
 * - `inactive`: nothing is pushed to a user who did not look for two weeks; the next look reads anew.
 * - `missing`: it should be in the pool and is not.
 * - otherwise as `LeftOutReason` says.
 */
export type ItemVerdict =
	| "listed"
	| "removed"
	| "next"
	| "behind"
	| "notFollowed"
	| "inactive"
	| "missing"
	| LeftOutReason;

export interface ExplainedItem {
	readonly verdict: ItemVerdict;
	/** Through what it came, or would; null if nothing is known of that. */
	readonly entry: PoolEntry | null;
	/** When it came into the pool, the feed, or was dropped. Milliseconds since 1970. */
	readonly changedAt: number | null;
	/** Among the items that the next look adds, from 1. */
	readonly place: number | null;
	/** Whom or what of the item the user follows. */
	readonly follows: readonly Producer[];
}

/** Why an item is in the home feed of a user, or is not. Reads only. Throws if the pool or the shards cannot be read. */
export async function explainItem(
	parts: FeedParts,
	user: Id,
	item: Id,
): Promise<ExplainedItem> {
	const { pools, store, model } = parts;
	const graph = new View(store, user);
	const mapping = model.list;
	const [[node = null], [edge = null], visit] = await Promise.all([
		graph.readObjects([item]),
		store.storage.read("edges", [{ mapping, from: user, to: item }]),
		pools.visit(user),
	]);
	if (node instanceof CorkboardError) throw node;
	if (edge instanceof CorkboardError) throw edge;
	const follows =
		node === null ? [] : await followedOf(model, graph, user, node);
	const [origin = item] = node === null ? [] : await rootOrigins(parts, [node]);
	const [row = null] = await pools.find(user, [origin]);
	const as = (
		verdict: ItemVerdict,
		more: Partial<Pick<ExplainedItem, "entry" | "place">> = {},
	): ExplainedItem => ({
		verdict,
		entry: row,
		changedAt: row?.changedAt ?? null,
		place: null,
		follows,
		...more,
	});
	if (edge !== null) return as(edge.state === PRESENT ? "listed" : "removed");
	const { chosen, leftOut } = await chooseFor(parts, user, {});
	const at = chosen.findIndex((one) => one.item === item);
	if (at >= 0) {
		return as("next", { entry: chosen[at] ?? null, place: at + 1 });
	}
	const left = leftOut.find(({ entry }) => entry.item === item);
	if (left !== undefined) return as(left.reason, { entry: left.entry });
	if (node === null) return as("invisible");
	if (model.ownerOf(node.data) === user) return as("own");
	if (row?.state === "dropped") return as("dropped");
	if (row !== null && row.item !== item) return as("known");
	if (row?.state === "waiting") return as("behind");
	if (follows.length === 0) return as("notFollowed");
	const isActive = visit !== null && visit.visitedAt > parts.now() - ACTIVE_MS;
	return as(isActive ? "missing" : "inactive");
}

/** What the item belongs to, or is on a list of, as far as the user follows it. */
async function followedOf(
	model: FeedModel,
	graph: Graph,
	user: Id,
	item: Node,
): Promise<readonly Producer[]> {
	const found = await Promise.all(
		model.followed.map(async ({ source, follow, items, key }) => {
			const vias =
				key === null
					? await listedOn(graph, items, item.id)
					: [idAt(item.data, key)].filter((via) => via !== null);
			if (vias.length === 0) return [];
			const follows = await graph.hasEdges(follow, user, vias);
			return vias.flatMap((via, at) => {
				const one = follows[at];
				if (one instanceof CorkboardError) throw one;
				return one === true ? [{ source, via }] : [];
			});
		}),
	);
	return found.flat();
}

/** The objects whose lists have the item. Empty if the model has no such list. */
async function listedOn(
	graph: Graph,
	{ inverse }: Mapping,
	item: Id,
): Promise<readonly Id[]> {
	const back =
		inverse === null || inverse.kind === "reference"
			? undefined
			: graph.model.mappings.get(inverse.mapping);
	if (back === undefined) return [];
	const fields = {
		edges: true,
		hasNextPage: false,
		hasPreviousPage: false,
		cursors: false,
		totalCount: false,
	};
	const [page = null] = await graph.readPages(back, [item], {
		first: 100,
		fields,
	});
	if (page instanceof CorkboardError) throw page;
	return (page?.edges ?? []).flatMap(({ node }) =>
		node instanceof CorkboardError ? [] : [node.id],
	);
}
