import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { shardOfList } from "../../storage/feedShards.ts";
import { edgeName, listName } from "../../storage/keys.ts";
import {
	type EdgeKey,
	type EdgeState,
	type ListRow,
	PRESENT,
	REMOVED,
} from "../../storage/rows.ts";
import { mayBeOfOneShard } from "../../storage/storageFailure.ts";
import {
	type EdgeUpdate,
	mappingNamed,
	type OutboxEntry,
} from "../outbox/entry.ts";
import {
	decideEdges,
	edgesToRead,
	edgeWithInverse,
	splitByShard,
} from "../outbox/parts/edgeUpdates.ts";
import { nextSequence } from "../outbox/sequences.ts";
import type { WriteTransaction } from "../outbox/writer.ts";
import type { EntryJob, WantedJob } from "../store/jobQueue.ts";
import type { Store } from "../store/store.ts";
import type { NewObject, Writes } from "../types.ts";
import type { WritePipeline } from "./pipeline.ts";

interface Target {
	readonly to: Id;
	readonly state: EdgeState;
	/** Its place among those added, or among those removed. */
	readonly at: number;
}

/**
 * Changes edges of one list and their inverses. One transaction changes what is on
 * the list's shard. Its outbox entry has the inverses on other shards, and those of
 * objects that are not known yet. An edge that is already as it should be keeps
 * its version.
 *
 * The transaction also changes the inverse of a single edge on another shard of the
 * same host, if no other transaction has locked its list. If one has, or that shard
 * takes no writes, the transaction is rolled back and repeated without it: a write
 * waits only for the lists of its own shard (docs/consistency.md "Both sides of an edge").
 */
export async function setEdges(
	pipeline: WritePipeline,
	...[mapping, from, changes]: Parameters<Writes["setEdges"]>
): Promise<void> {
	const { store } = pipeline;
	const { events, queue } = store.jobs ?? {};
	const newJob = events?.ofMapping(mapping.name)
		? ((await queue?.prepare()) ?? null)
		: null;
	const edges = [store, mapping, from, changes, newJob] as const;
	const beside = besideOf(store, mapping, from, changes);
	if (beside !== undefined) {
		try {
			await pipeline.write(edgesTransaction(...edges, beside));
			return;
		} catch (thrown) {
			if (!mayBeOfOneShard(thrown)) throw thrown;
		}
	}
	await pipeline.write(edgesTransaction(...edges, undefined));
}

type Changes = Parameters<Writes["setEdges"]>[2];

/** The other shard that one transaction can change as well; undefined if there is none. */
function besideOf(
	{ model, storage }: Store,
	mapping: Mapping,
	from: Id,
	{ add, remove }: Changes,
): number | undefined {
	const to = [...add.map((link) => link.to), ...remove];
	const [only] = to;
	const { inverse } = mapping;
	if (to.length !== 1 || typeof only !== "string") return undefined;
	if (inverse?.kind !== "target") return undefined;
	const list = { mapping, from };
	const other = { mapping: mappingNamed(model, inverse.mapping), from: only };
	const shard = shardOfList(list, storage);
	const beside = shardOfList(other, storage);
	return beside !== shard &&
		storage.map.canTransactOnBoth(shard, beside, [list, other])
		? beside
		: undefined;
}

/** What sets the edges, on the list's shard and on the one beside it. */
function edgesTransaction(
	store: Store,
	mapping: Mapping,
	from: Id,
	{ add, remove }: Changes,
	newJob: ((job: WantedJob) => EntryJob) | null,
	beside: number | undefined,
): WriteTransaction<void> {
	const shard = shardOfList({ mapping, from }, store.storage);
	const links = add.map((link) => ({ ...link, mapping }));
	const targets: readonly Target[] = [
		...add.flatMap(({ to }, at) =>
			typeof to === "string" ? [{ to, state: PRESENT, at } as const] : [],
		),
		...remove.map((to, at) => ({ to, state: REMOVED, at }) as const),
	];
	const withInverses = (
		edges: readonly Pick<EdgeUpdate, "to" | "state" | "version" | "sequence">[],
	) =>
		splitByShard(
			store,
			shard,
			edges.flatMap((edge) => edgeWithInverse(mapping, { ...edge, from })),
			beside,
		);
	const locked = edgesToRead(
		store,
		withInverses(
			targets.map(({ to, state }) => ({ to, state, version: 0, sequence: 0 })),
		).here,
	);
	const listAt = positions(locked.lists, ({ mapping, from }) =>
		listName(mapping, from),
	);
	const edgeAt = positions(locked.keys, (key) => edgeName(key.mapping, key));
	const { visibility } = store.domain;
	const { events } = store.jobs ?? {};
	return {
		shard,
		beside,
		lists: locked.lists,
		edges: locked.keys,
		decide(reads) {
			const oldEdge = (key: EdgeKey) =>
				reads.edges[edgeAt.get(edgeName(key.mapping, key)) as number] ?? null;
			const list = reads.lists[listAt.get(listName(mapping, from)) as number];
			const sequence = nextSequence(list?.lastSequence ?? 0, reads.now);
			const linked = linksOf(store, from, links, sequence);
			const changed = targets.flatMap(({ to, state, at }) => {
				const old = oldEdge({ mapping, from, to });
				if ((old?.state ?? REMOVED) === state) return [];
				return {
					to,
					state,
					version: (old?.version ?? 0) + 1,
					// The sequence of a removed edge is the time of its removal: `purge` needs it.
					sequence: state === PRESENT ? sequence + at : reads.now,
				};
			});
			if (changed.length === 0 && !linked.links?.length) {
				return { result: undefined };
			}
			const { here, elsewhere } = withInverses(changed);
			const toRead = edgesToRead(store, here);
			return {
				...decideEdges(toRead, {
					...reads,
					lists: toRead.lists.map(({ mapping, from }) => {
						const at = listAt.get(listName(mapping, from)) as number;
						return reads.lists[at] as ListRow;
					}),
					edges: toRead.keys.map(oldEdge),
				}),
				entry: {
					edges: elsewhere,
					links: linked.links ?? [],
					jobs: newJob
						? (
								events?.edgesChanged(
									mapping.name,
									from,
									changed.map(({ to, state }) => ({
										to,
										isPresent: state === PRESENT,
									})),
								) ?? []
							).map(newJob)
						: [],
				},
				hides: changed.some(({ state }) =>
					visibility.edgesHide(
						mapping,
						state === PRESENT ? "added" : "removed",
					),
				),
			};
		},
	};
}

/** The position of each item, by its name. */
function positions<T>(
	items: readonly T[],
	nameOf: (item: T) => string,
): ReadonlyMap<string, number> {
	return new Map(items.map((item, at) => [nameOf(item), at]));
}

/** Edges to objects whose ids are known, and links to those that delivery finds or creates. */
export function linksOf(
	store: Store,
	from: Id,
	links: NonNullable<NewObject["links"]>,
	/** The sequence of the first edge, in microseconds. */
	sequence: number,
): Pick<OutboxEntry, "edges" | "links"> {
	const { domain, storage } = store;
	return {
		edges: links.flatMap(({ mapping, to }, at) =>
			typeof to === "string"
				? edgeWithInverse(mapping, {
						from,
						to,
						state: PRESENT,
						version: 1,
						sequence: sequence + at,
					})
				: [],
		),
		links: links.flatMap(({ mapping, to }, at) =>
			typeof to === "string"
				? []
				: [
						{
							...to,
							mapping: mapping.name,
							from,
							sequence: sequence + at,
							shard: domain.placement.shardFor(to.type, to.data, storage.map),
						},
					],
		),
	};
}
