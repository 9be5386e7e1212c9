import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { shardOfList } from "../../storage/feedShards.ts";
import {
	type Edge,
	type EdgeKey,
	PRESENT,
	REMOVED,
} from "../../storage/rows.ts";
import type { Storage } from "../../storage/storage.ts";
import { mappingNamed } from "../outbox/entry.ts";
import { distinctLists } from "../store/lockedLists.ts";
import { valuesOrThrow } from "../store/readUncached.ts";
import type { Store } from "../store/store.ts";

/**
 * Deletes the rows of edges that were removed long ago. Such a row keeps
 * deliveries that are late from bringing an old version of the edge back, so it
 * is deleted only when there is none: all entries that were written before it was
 * removed have left the outboxes. Of a pair the inverse goes first: while the
 * source has its row, an edge that is made again gets a version above all that
 * were (docs/consistency.md "Purge of removed edges").
 *
 * Nothing that anybody reads changes: no cache is invalidated.
 */
export const PURGE_QUEUE = "purgeEdges";

/** How long the rows of removed edges are kept. Days. */
export const KEPT_DAYS = 7;
/** Edges that one transaction deletes. */
const PER_TRANSACTION = 100;
const DAY_MS = 24 * 3_600_000;
/** How much the clocks of processes may differ at most: one wrote the entry, another one removed the edge. Microseconds. */
const CLOCKS_US = 3_600_000_000;

/** Microseconds since 1970: edges removed earlier can be purged. Throws UNAVAILABLE if an outbox cannot be read. */
export async function purgeableBefore(
	storage: Pick<Storage, "map" | "read">,
	now: number = Date.now(),
): Promise<number> {
	const before = (now - KEPT_DAYS * DAY_MS) * 1_000;
	const sizes = valuesOrThrow(
		await storage.read(
			"outboxSizes",
			storage.map.outboxes.map((outbox) => ({ outbox, limit: 1 })),
		),
	);
	return sizes.reduce(
		(earliest, { oldestAt }) =>
			oldestAt === null ? earliest : Math.min(earliest, oldestAt - CLOCKS_US),
		before,
	);
}

interface PurgedBatch {
	/** Where the next batch begins; null at the end. */
	readonly next: Pick<Edge, "from" | "to"> | null;
	readonly purged: number;
	/** Objects that the edges lead to which are on their list. */
	readonly listed: readonly Id[];
}

/** Whether the row of an edge is old enough to be purged, and that of its inverse may be gone already. */
export function isOldRemoved(
	{ state, sequence }: Pick<Edge, "state" | "sequence">,
	now: number = Date.now(),
): boolean {
	const before = (now - KEPT_DAYS * DAY_MS) * 1_000;
	return state === REMOVED && sequence < before;
}

/** Whether removed edges of the mapping are purged by themselves. Those of an inverse go with their sources. */
export function isPurged({ inverse }: Mapping): boolean {
	return inverse?.kind !== "source";
}

/**
 * Looks at the next thousand edges of a mapping on a shard. The process may die
 * between any two transactions, and a batch may be repeated.
 */
export async function purgeBatch(
	store: Pick<Store, "model" | "storage">,
	shard: number,
	mapping: Mapping,
	after: Pick<Edge, "from" | "to"> | null,
	/** From `purgeableBefore`. */
	before: number,
): Promise<PurgedBatch> {
	const { storage, model } = store;
	const walk = storage.walk("edges", shard, mapping, after ?? undefined);
	let edges: readonly Edge[] = [];
	for await (const some of walk) {
		edges = some;
		break;
	}
	const ofShard = edges.filter(
		({ from }) => shardOfList({ mapping, from }, storage) === shard,
	);
	const listed = ofShard
		.filter(({ state }) => state === PRESENT)
		.map(({ to }) => to);
	const old = ofShard.filter(
		({ state, sequence, version }) =>
			state === REMOVED && Number.isSafeInteger(version) && sequence < before,
	);
	const { inverse } = mapping;
	const last = edges.at(-1);
	const next = last === undefined ? null : { from: last.from, to: last.to };
	let purgeable: readonly Edge[] = old;
	if (inverse?.kind === "target") {
		const other = mappingNamed(model, inverse.mapping);
		const { left } = await purgeRows(storage, other, old.map(reversed));
		const kept = new Set(left.map(({ from, to }) => `${to} ${from}`));
		purgeable = old.filter(({ from, to }) => !kept.has(`${from} ${to}`));
	}
	const { purged } = await purgeRows(storage, mapping, purgeable);
	return { next, purged, listed };
}

function reversed(edge: Edge): Edge {
	return { ...edge, from: edge.to, to: edge.from };
}

/** Deletes the rows of edges that still are removed, in this version. `left`: those that are not, and have a row. */
async function purgeRows(
	storage: Storage,
	mapping: Mapping,
	edges: readonly Edge[],
): Promise<{ readonly purged: number; readonly left: readonly Edge[] }> {
	let purged = 0;
	const left: Edge[] = [];
	const byShard = Map.groupBy(edges, ({ from }) =>
		shardOfList({ mapping, from }, storage),
	);
	for (const [shard, all] of byShard) {
		for (let at = 0; at < all.length; at += PER_TRANSACTION) {
			const some = all.slice(at, at + PER_TRANSACTION);
			const keys = some.map(({ from, to }): EdgeKey => ({ mapping, from, to }));
			const { result } = await storage.transact({
				shard,
				lists: distinctLists(keys),
				edges: keys,
				decide(reads) {
					const kept: Edge[] = [];
					const purge = keys.filter((_, at) => {
						const now = reads.edges[at] ?? null;
						const edge = some[at] as Edge;
						const isOld =
							now?.state === REMOVED && now.version === edge.version;
						if (!isOld && now !== null) kept.push(edge);
						return isOld;
					});
					return {
						result: { purged: purge.length, kept },
						...(purge.length > 0 && { purge }),
					};
				},
			});
			purged += result.purged;
			left.push(...result.kept);
		}
	}
	return { purged, left };
}
