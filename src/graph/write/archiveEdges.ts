import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { shardOfList } from "../../storage/feedShards.ts";
import { edgeName, listName } from "../../storage/keys.ts";
import {
	type EdgeKey,
	type ListRow,
	PRESENT,
	REMOVED,
	type TransactionReads,
} from "../../storage/rows.ts";
import { mappingNamed } from "../outbox/entry.ts";
import {
	decideEdges,
	type EdgesToRead,
	edgesToRead,
	edgeWithInverse,
	splitByShard,
} from "../outbox/parts/edgeUpdates.ts";
import type { Store } from "../store/store.ts";
import { WritePipeline } from "./pipeline.ts";

/** Edges or objects that one transaction changes. */
const PER_TRANSACTION = 50;

/** Removes edges of the list of one object. Each is removed at its source, and the entry of that transaction removes the other side. */
export async function removeEdges(
	store: Store,
	mapping: Mapping,
	id: Id,
	tos: readonly Id[],
): Promise<number> {
	const isInverse = mapping.inverse?.kind === "source";
	const source = isInverse
		? mappingNamed(
				store.model,
				(mapping.inverse as { mapping: string }).mapping,
			)
		: mapping;
	const keys = tos.map((to) =>
		isInverse
			? { mapping: source, from: to, to: id }
			: { mapping: source, from: id, to },
	);
	let removed = 0;
	for (const [shard, some] of chunksByShard(keys, (key) =>
		shardOfList(key, store.storage),
	)) {
		removed += await removeEdgesOnShard(store, shard, some);
	}
	return removed;
}

async function removeEdgesOnShard(
	store: Store,
	shard: number,
	keys: readonly EdgeKey[],
): Promise<number> {
	const withInverses = (
		edges: readonly (EdgeKey & { version: number; sequence: number })[],
	) =>
		splitByShard(
			store,
			shard,
			edges.flatMap(({ mapping, ...edge }) =>
				edgeWithInverse(mapping, { ...edge, state: REMOVED }),
			),
		);
	const locked = edgesToRead(
		store,
		withInverses(keys.map((key) => ({ ...key, version: 0, sequence: 0 }))).here,
	);
	const { result } = await pipelineOf(store).write<number>({
		shard,
		lists: locked.lists,
		edges: locked.keys,
		decide(reads) {
			const { edges } = readsOf(locked, { ...locked, keys }, reads);
			const changed = keys.flatMap((key, at) => {
				const old = edges[at];
				return old?.state === PRESENT
					? [{ ...key, version: old.version + 1, sequence: reads.now }]
					: [];
			});
			const { here, elsewhere } = withInverses(changed);
			const toRead = edgesToRead(store, here);
			return {
				...decideEdges(toRead, readsOf(locked, toRead, reads)),
				result: changed.length,
				entry: { edges: elsewhere },
			};
		},
	});
	return result;
}

/** Its entries and jobs are delivered as those of a request: together, and nobody waits until the entries are deleted. */
export function pipelineOf(store: Store): WritePipeline {
	return new WritePipeline(store, {}, { ofRequest: true });
}

/** What a transaction read of a part of what it locked: lists and edges. */
export function readsOf(
	locked: EdgesToRead,
	part: Pick<EdgesToRead, "lists" | "keys">,
	reads: TransactionReads,
): TransactionReads {
	const lists = new Map(
		locked.lists.map(({ mapping, from }, at) => [listName(mapping, from), at]),
	);
	const edges = new Map(
		locked.keys.map((key, at) => [edgeName(key.mapping, key), at]),
	);
	return {
		...reads,
		lists: part.lists.map(
			({ mapping, from }) =>
				reads.lists[lists.get(listName(mapping, from)) as number] as ListRow,
		),
		edges: part.keys.map(
			(key) =>
				reads.edges[edges.get(edgeName(key.mapping, key)) as number] ?? null,
		),
	};
}

/** The edges, by name, to compare them. */
export function spell({ keys }: EdgesToRead): string {
	return keys.map((key) => edgeName(key.mapping, key)).join();
}

/** Each with its shard, at most PER_TRANSACTION together. */
export function* chunksByShard<T>(
	all: readonly T[],
	shardOf: (one: T) => number,
): Generator<readonly [shard: number, some: readonly T[]]> {
	const byShard = Map.groupBy(all, shardOf);
	for (const [shard, some] of byShard) {
		for (let at = 0; at < some.length; at += PER_TRANSACTION) {
			yield [shard, some.slice(at, at + PER_TRANSACTION)];
		}
	}
}
