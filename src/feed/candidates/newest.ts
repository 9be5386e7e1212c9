import { CorkboardError } from "../../errors.ts";
import type { Graph, Node, PageFields } from "../../graph/types.ts";
import type { Id } from "../../id/ids.ts";
import type { CallOptions } from "../../trace.ts";
import type { FeedModel } from "../feedModel.ts";
import type { PoolEntry } from "../pools/pools.ts";
import { HALF_LIFE_MS, scoreOf } from "../scores.ts";
import type { Source } from "../sources.ts";
import { type OriginParts, readRootOrigins } from "./origins.ts";

/** Whom or what somebody follows. */
export interface Producer {
	readonly source: Source;
	readonly via: Id;
}

export interface NewestOptions {
	readonly call?: CallOptions | undefined;
	readonly onUnread?: (error: CorkboardError) => void;
}

const ONLY_EDGES: PageFields = {
	edges: true,
	hasNextPage: false,
	hasPreviousPage: false,
	cursors: false,
	totalCount: false,
};

/**
 * The newest items of each producer that the viewer of the graph may see, as
 * entries of its pool: one read of lists a kind of producer. A producer, or an item,
 * that cannot be read now gives none, and `onUnread` is called.
 */
export async function newestOf(
	{ store, model }: OriginParts,
	graph: Graph,
	producers: readonly Producer[],
	perProducer: number,
	{ call, onUnread = () => {} }: NewestOptions = {},
): Promise<readonly PoolEntry[]> {
	const groups = Map.groupBy(producers, ({ source }) => source);
	const entries = await Promise.all(
		[...groups].map(async ([source, group]) => {
			const pages = await graph.readPages(
				model.followedBy(source).items,
				group.map(({ via }) => via),
				{ first: perProducer, fields: ONLY_EDGES },
				call,
			);
			return pages.flatMap((page, at) => {
				if (page instanceof CorkboardError) onUnread(page);
				if (page === null || page instanceof CorkboardError) return [];
				return page.edges.flatMap(({ node }) => {
					if (!(node instanceof CorkboardError)) {
						return [{ node, producer: group[at] as Producer }];
					}
					onUnread(node);
					return [];
				});
			});
		}),
	);
	const found = entries.flat();
	const origins = await readRootOrigins(
		{ store, model },
		found.map(({ node }) => node),
	);
	return found.flatMap(({ node, producer }, at) => {
		const origin = origins[at] as Id | CorkboardError;
		if (!(origin instanceof CorkboardError)) {
			return [entryOf(model, node, origin, producer)];
		}
		// Its picture may have been shown already.
		onUnread(origin);
		return [];
	});
}

/** Those whom a user follows, the latest first, at most `limit` of each kind. */
export async function followedBy(
	{ followed }: FeedModel,
	graph: Graph,
	user: Id,
	limit: number,
	call?: CallOptions,
): Promise<readonly Producer[]> {
	const lists = await Promise.all(
		followed.map(async ({ source, follow }) => {
			const page = { first: limit, fields: ONLY_EDGES };
			const [list] = await graph.readPages(follow, [user], page, call);
			if (list instanceof CorkboardError) throw list;
			return (list?.edges ?? []).flatMap(({ node }) =>
				node instanceof CorkboardError ? [] : [{ source, via: node.id }],
			);
		}),
	);
	return lists.flat();
}

function entryOf(
	model: FeedModel,
	item: Node,
	origin: Id,
	{ source, via }: Producer,
): PoolEntry {
	const createdAt = model.createdAtOf(item.data);
	return {
		source,
		via,
		item: item.id,
		origin,
		score: scoreOf({ quality: 0, createdAt, halfLifeMs: HALF_LIFE_MS }),
	};
}
