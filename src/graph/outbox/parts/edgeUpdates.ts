import { CorkboardError } from "../../../errors.ts";
import type { Id } from "../../../id/ids.ts";
import type { Mapping, ObjectType } from "../../../model/types.ts";
import { shardOfList } from "../../../storage/feedShards.ts";
import { edgeName, listName } from "../../../storage/keys.ts";
import {
	type Edge,
	type EdgeKey,
	type EdgePosition,
	type EdgeState,
	type ListKey,
	PRESENT,
	REMOVED,
	type TransactionReads,
} from "../../../storage/rows.ts";
import type { JsonObject } from "../../../util/json.ts";
import { derivedLists, sequenceByContent } from "../../store/derivedLists.ts";
import { distinctLists, lastSequencesOf } from "../../store/lockedLists.ts";
import type { Store } from "../../store/store.ts";
import { type EdgeUpdate, mappingNamed } from "../entry.ts";
import {
	type NewSequence,
	nextSequence,
	sequenceBetween,
} from "../sequences.ts";
import { type Decision, invalidationFailed, type Writer } from "../writer.ts";

/**
 * A process that was paused for longer applies nothing that it read before: the
 * rows of removed edges, by whose versions it would find that it is late, are
 * deleted after some days (src/graph/write/purge.ts). Milliseconds.
 */
const MAX_AGE_MS = 3_600_000;
/** At most this many edges are applied in one transaction. */
const EDGES_PER_TRANSACTION = 500;

/**
 * Apply edge updates on the shards of their lists, each if its version is
 * greater than the list's. Shards are independent of each other: `failed` is
 * called with the updates of each transaction that failed.
 */
export async function applyEdges(
	writer: Writer,
	updates: readonly EdgeUpdate[],
	failed: (updates: readonly EdgeUpdate[], error: unknown) => void = (
		_,
		error,
	) => {
		throw error;
	},
	/** When what they are based on was read. Milliseconds since 1970. */
	readAt: number = Date.now(),
): Promise<void> {
	const byShard = Map.groupBy(updates, (edge) =>
		shardOfEdge(writer.store, edge),
	);
	await Promise.all(
		[...byShard].map(async ([shard, all]) => {
			for (let at = 0; at < all.length; at += EDGES_PER_TRANSACTION) {
				const some = all.slice(at, at + EDGES_PER_TRANSACTION);
				try {
					await applyOnShard(writer, shard, some, readAt);
				} catch (error) {
					failed(some, error);
				}
			}
		}),
	);
}

async function applyOnShard(
	writer: Writer,
	shard: number,
	updates: readonly EdgeUpdate[],
	readAt: number,
): Promise<void> {
	const edges = edgesToRead(writer.store, updates);
	const { invalidated } = await writer.transact({
		shard,
		lists: edges.lists,
		edges: edges.keys,
		neighbors: edges.neighbors,
		decide(reads) {
			if (Date.now() - readAt > MAX_AGE_MS) throw tooLate();
			return decideEdges(edges, reads);
		},
	});
	if (!invalidated) throw invalidationFailed();
}

function tooLate(): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		"The process was paused for more than an hour between reading an outbox entry and its delivery.",
		{ details: { kind: "late" } },
	);
}

/** Edge updates, and what a transaction of their shard has to lock and read for them. */
export interface EdgesToRead {
	readonly updates: readonly EdgeUpdate[];
	readonly lists: readonly ListKey[];
	readonly keys: readonly EdgeKey[];
	readonly neighbors: readonly EdgeKey[];
}

export function edgesToRead(
	store: Store,
	updates: readonly EdgeUpdate[],
): EdgesToRead {
	// An edge may be updated twice, by a like and by the unlike after it: the greater version decides.
	const latest = new Map<string, EdgeUpdate>();
	for (const edge of updates) {
		const key = edgeName({ name: edge.mapping }, edge);
		const other = latest.get(key);
		if (other === undefined || other.version < edge.version) {
			latest.set(key, edge);
		}
	}
	const unique = [...latest.values()];
	const keys = unique.map((edge) => ({
		mapping: mappingNamed(store.model, edge.mapping),
		from: edge.from,
		to: edge.to,
	}));
	const neighbors = unique.flatMap((edge, at) => {
		const beside = edge.before ?? edge.after;
		return beside === undefined
			? []
			: [{ ...(keys[at] as EdgeKey), to: beside }];
	});
	return { updates: unique, lists: distinctLists(keys), keys, neighbors };
}

/**
 * The edges to write: those whose update is newer than what the transaction
 * read. `reads` are of a transaction that asked for nothing but these edges; a
 * transaction that reads more passes on the parts that belong to them.
 */
export function decideEdges(
	toRead: EdgesToRead,
	reads: Pick<TransactionReads, "lists" | "edges" | "neighbors" | "now">,
): Decision<undefined> {
	const lastSequences = lastSequencesOf(toRead.lists, reads);
	const changed: (EdgeKey & Omit<Edge, "from" | "to">)[] = [];
	const crowded: EdgePosition[] = [];
	let nextNeighbors = 0;
	for (const [at, edge] of toRead.updates.entries()) {
		const key = toRead.keys[at] as EdgeKey;
		const old = reads.edges[at] ?? null;
		const isPlaced = edge.before !== undefined || edge.after !== undefined;
		const beside = isPlaced ? reads.neighbors[nextNeighbors++] : undefined;
		if (old !== null && old.version >= edge.version) continue;
		const list = listName(key.mapping, key.from);
		const last = lastSequences.get(list) as number;
		let sequence: NewSequence;
		if (edge.sequence !== null) {
			sequence = edge.sequence;
		} else if (edge.state === REMOVED) {
			// When it was removed.
			sequence = reads.now;
		} else if (beside?.edge?.state === PRESENT) {
			sequence = sequenceBetween(
				key.mapping,
				edge.to,
				{ ...beside, edge: beside.edge },
				edge.before === undefined,
			);
		} else {
			// At the top, even if the neighbor has left the list meanwhile.
			sequence = nextSequence(last, reads.now);
		}
		if (typeof sequence !== "number") {
			const { mapping, from } = key;
			crowded.push({ mapping, from, at: sequence.noRoomBelow });
			continue;
		}
		lastSequences.set(list, Math.max(last, sequence));
		changed.push({
			...key,
			sequence,
			state: edge.state,
			version: edge.version,
		});
	}
	return crowded.length > 0
		? { result: undefined, renumber: crowded }
		: { result: undefined, edges: changed };
}

/**
 * The edges of the lists that follow an object's content, as it goes from `data`
 * to `next` (derivedLists.ts). Their version is the object's, which every change
 * of the object raises.
 */
export function derivedEdges(
	store: Store,
	type: ObjectType,
	id: Id,
	data: JsonObject | null,
	next: JsonObject,
): readonly EdgeUpdate[] {
	const old = data === null ? [] : derivedLists(store, type, data);
	const now = derivedLists(store, type, next);
	const are = new Set(now.map(nameOf));
	const were = new Set(old.map(nameOf));
	/** Whether the object was on this list, and at this place if its content decides that. */
	const wasThere = (list: ListKey) =>
		data !== null &&
		were.has(nameOf(list)) &&
		sequenceByContent(list.mapping, data) ===
			sequenceByContent(list.mapping, next);
	return [
		...old
			.filter((list) => !are.has(nameOf(list)))
			.map((list) => derivedEdge(list, id, REMOVED, next)),
		...now
			.filter((list) => !wasThere(list))
			.map((list) => derivedEdge(list, id, PRESENT, next)),
	];
}

function nameOf({ mapping, from }: ListKey): string {
	return listName(mapping, from);
}

export function derivedEdge(
	{ mapping, from }: ListKey,
	to: Id,
	state: EdgeState,
	content: JsonObject,
): EdgeUpdate {
	return {
		mapping: mapping.name,
		from,
		to,
		state,
		version: content.version as number,
		sequence: state === PRESENT ? sequenceByContent(mapping, content) : null,
	};
}

/** An edge of a mapping that has an inverse, and that inverse: the same state, version and sequence. */
export function edgeWithInverse(
	mapping: Mapping,
	edge: Omit<EdgeUpdate, "mapping">,
): readonly EdgeUpdate[] {
	const forward = { ...edge, mapping: mapping.name };
	return mapping.inverse?.kind === "target"
		? [
				forward,
				{
					...edge,
					mapping: mapping.inverse.mapping,
					from: edge.to,
					to: edge.from,
				},
			]
		: [forward];
}

/** The shard of storage that has the edge's list. */
function shardOfEdge(
	{ model, storage }: Pick<Store, "model" | "storage">,
	{ mapping, from }: EdgeUpdate,
): number {
	return shardOfList({ mapping: mappingNamed(model, mapping), from }, storage);
}

/** The updates of a transaction's own shards, and those for its outbox entry. */
export function splitByShard(
	store: Store,
	shard: number,
	updates: readonly EdgeUpdate[],
	beside = shard,
): {
	readonly here: readonly EdgeUpdate[];
	readonly elsewhere: readonly EdgeUpdate[];
} {
	const isHere = (edge: EdgeUpdate) => {
		const own = shardOfEdge(store, edge);
		return own === shard || own === beside;
	};
	return {
		here: updates.filter(isHere),
		elsewhere: updates.filter((edge) => !isHere(edge)),
	};
}
