import { CorkboardError } from "../../errors.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Graph, Node, PageFields } from "../../graph/types.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { CallOptions } from "../../trace.ts";
import type { PoolEntry } from "../pools/pools.ts";
import { HALF_LIFE_MS, scoreOf } from "../scores.ts";
import type { Source } from "../sources.ts";
import { readRootOrigins } from "./origins.ts";

/** Whom or what somebody follows. */
export interface Producer {
	readonly source: Exclude<Source, "related">;
	readonly via: Id;
}

/** The lists of pins of producers, and the lists of those whom a user follows. */
export const LISTS_OF = {
	user: { pins: "ownPin", followed: "followUser" },
	board: { pins: "placePin", followed: "followBoard" },
	interest: { pins: "filePin.inverse", followed: "followInterest" },
} as const satisfies Readonly<Record<Producer["source"], unknown>>;

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
 * The newest pins of each producer that the viewer of the graph may see, as
 * entries of its pool: one read of lists a kind of producer. A producer, or a pin,
 * that cannot be read now gives none, and `onUnread` is called.
 */
export async function newestOf(
	store: Pick<Store, "readObjects">,
	graph: Graph,
	producers: readonly Producer[],
	perProducer: number,
	{ call, onUnread = () => {} }: NewestOptions = {},
): Promise<readonly PoolEntry[]> {
	const groups = Map.groupBy(producers, ({ source }) => source);
	const entries = await Promise.all(
		[...groups].map(async ([source, group]) => {
			const pages = await graph.readPages(
				mappingOf(graph, LISTS_OF[source].pins),
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
		store,
		found.map(({ node }) => node),
	);
	return found.flatMap(({ node, producer }, at) => {
		const origin = origins[at] as Id | CorkboardError;
		if (!(origin instanceof CorkboardError)) {
			return [entryOf(node, origin, producer)];
		}
		// Its picture may have been shown already.
		onUnread(origin);
		return [];
	});
}

/** Those whom a user follows, the latest first, at most `limit` of each kind. */
export async function followedBy(
	graph: Graph,
	user: Id,
	limit: number,
	call?: CallOptions,
): Promise<readonly Producer[]> {
	const sources = Object.keys(LISTS_OF) as Producer["source"][];
	const lists = await Promise.all(
		sources.map(async (source) => {
			const mapping = mappingOf(graph, LISTS_OF[source].followed);
			const page = { first: limit, fields: ONLY_EDGES };
			const [list] = await graph.readPages(mapping, [user], page, call);
			if (list instanceof CorkboardError) throw list;
			return (list?.edges ?? []).flatMap(({ node }) =>
				node instanceof CorkboardError ? [] : [{ source, via: node.id }],
			);
		}),
	);
	return lists.flat();
}

/** Throws a TypeError for a name that the SDL does not have. */
export function mappingOf(
	{ model }: Pick<Graph, "model">,
	name: string,
): Mapping {
	const mapping = model.mappings.get(name);
	if (mapping === undefined) {
		throw new TypeError(`The model has no mapping ${name}.`);
	}
	return mapping;
}

function entryOf(pin: Node, origin: Id, { source, via }: Producer): PoolEntry {
	const createdAt = Date.parse(String(pin.data.created_at ?? ""));
	return {
		source,
		via,
		pin: pin.id,
		origin,
		score: scoreOf({ quality: 0, createdAt, halfLifeMs: HALF_LIFE_MS }),
	};
}
