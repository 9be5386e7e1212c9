import { CorkboardError } from "../errors.ts";
import { View } from "../graph/read/view.ts";
import type { Graph, Node } from "../graph/types.ts";
import type { Id } from "../id/ids.ts";
import { PRESENT } from "../storage/rows.ts";
import { LISTS_OF, mappingOf, type Producer } from "./candidates/newest.ts";
import { rootOrigins } from "./candidates/origins.ts";
import {
	ACTIVE_MS,
	chooseFor,
	FEED_MAPPING,
	type LeftOutReason,
} from "./generator.ts";
import type { FeedParts } from "./parts.ts";
import type { PoolEntry } from "./pools/pools.ts";

/**
 * Where a pin stands for one user:
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
export type PinVerdict =
	| "listed"
	| "removed"
	| "next"
	| "behind"
	| "notFollowed"
	| "inactive"
	| "missing"
	| LeftOutReason;

export interface ExplainedPin {
	readonly verdict: PinVerdict;
	/** Through what it came, or would; null where nothing is known of that. */
	readonly entry: PoolEntry | null;
	/** When it came into the pool, the feed, or was dropped. Milliseconds since 1970. */
	readonly changedAt: number | null;
	/** Among the pins that the next look adds, from 1. */
	readonly place: number | null;
	/** Whom or what of the pin the user follows. */
	readonly follows: readonly Producer[];
}

/** Why a pin is in the home feed of a user, or is not. Reads only. Throws where the pool or the shards cannot be read. */
export async function explainPin(
	parts: FeedParts,
	user: Id,
	pin: Id,
): Promise<ExplainedPin> {
	const { pools, store } = parts;
	const graph = new View(store, user);
	const mapping = mappingOf(store, FEED_MAPPING);
	const [[node = null], [edge = null], visit] = await Promise.all([
		graph.readObjects([pin]),
		store.storage.read("edges", [{ mapping, from: user, to: pin }]),
		pools.visit(user),
	]);
	if (node instanceof CorkboardError) throw node;
	if (edge instanceof CorkboardError) throw edge;
	const follows = node === null ? [] : await followedOf(graph, user, node);
	const [origin = pin] = node === null ? [] : await rootOrigins(store, [node]);
	const [row = null] = await pools.find(user, [origin]);
	const as = (
		verdict: PinVerdict,
		more: Partial<Pick<ExplainedPin, "entry" | "place">> = {},
	): ExplainedPin => ({
		verdict,
		entry: row,
		changedAt: row?.changedAt ?? null,
		place: null,
		follows,
		...more,
	});
	if (edge !== null) return as(edge.state === PRESENT ? "listed" : "removed");
	const { chosen, leftOut } = await chooseFor(parts, user, {});
	const at = chosen.findIndex((one) => one.pin === pin);
	if (at >= 0) {
		return as("next", { entry: chosen[at] ?? null, place: at + 1 });
	}
	const left = leftOut.find(({ entry }) => entry.pin === pin);
	if (left !== undefined) return as(left.reason, { entry: left.entry });
	if (node === null) return as("invisible");
	if (node.data.user_id === user) return as("own");
	if (row?.state === "dropped") return as("dropped");
	if (row !== null && row.pin !== pin) return as("known");
	if (row?.state === "waiting") return as("behind");
	if (follows.length === 0) return as("notFollowed");
	const isActive = visit !== null && visit.visitedAt > parts.now() - ACTIVE_MS;
	return as(isActive ? "missing" : "inactive");
}

/** The owner, the board and the interests of a pin, as far as the user follows them. */
async function followedOf(
	graph: Graph,
	user: Id,
	pin: Node,
): Promise<readonly Producer[]> {
	const fields = {
		edges: true,
		hasNextPage: false,
		hasPreviousPage: false,
		cursors: false,
		totalCount: false,
	};
	const [filed = null] = await graph.readPages(
		mappingOf(graph, "filePin"),
		[pin.id],
		{ first: 100, fields },
	);
	if (filed instanceof CorkboardError) throw filed;
	const interests = (filed?.edges ?? []).flatMap(({ node }) =>
		node instanceof CorkboardError ? [] : [node.id],
	);
	const { user_id: owner, board_id: board } = pin.data;
	const candidates: Readonly<Record<Producer["source"], readonly Id[]>> = {
		user: [owner as Id],
		board: [board as Id],
		interest: interests,
	};
	const found = await Promise.all(
		(Object.keys(LISTS_OF) as Producer["source"][]).map(async (source) => {
			const vias = candidates[source];
			if (vias.length === 0) return [];
			const mapping = mappingOf(graph, LISTS_OF[source].followed);
			const follows = await graph.hasEdges(mapping, user, vias);
			return vias.flatMap((via, at) => {
				const one = follows[at];
				if (one instanceof CorkboardError) throw one;
				return one === true ? [{ source, via }] : [];
			});
		}),
	);
	return found.flat();
}
