import { type EdgeUpdate, mappingOf } from "../../graph/outbox/entry.ts";
import {
	distinctLists,
	lastSequencesOf,
} from "../../graph/store/lockedLists.ts";
import { readDecisive } from "../../graph/store/readUncached.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { shardOfList } from "../../storage/feedShards.ts";
import { edgeName, listName } from "../../storage/keys.ts";
import { type Edge, type EdgeKey, PRESENT } from "../../storage/rows.ts";
import type { BatchEntry, ImportRun } from "./importRun.ts";
import type { BadLine } from "./lineReader.ts";
import { idOf, type NewEdge } from "./planBatch.ts";

export interface WrittenEdges {
	/** Number of created edges, by edge name. */
	readonly edges: ReadonlyMap<string, number>;
	readonly existing: number;
	readonly bad: readonly BadLine[];
	readonly entries: readonly BatchEntry[];
}

interface NumberedEdge {
	readonly number: number;
	readonly mapping: Mapping;
	readonly from: Id;
	readonly to: Id;
}

/** Creates edges, with one transaction per shard. Inverse edges on other shards go into the outbox. Edges that exist, also removed ones, stay as they are. */
export async function writeEdges(
	run: ImportRun,
	edges: readonly NewEdge[],
): Promise<WrittenEdges> {
	const { store, numbering } = run;
	const bad: BadLine[] = [];
	const wanted = new Map<string, NumberedEdge>();
	let resolved = 0;
	for (const { number, mapping, ...ends } of edges) {
		const from = idOf(ends.from);
		const to = idOf(ends.to);
		if (from === null || to === null) {
			const reason = "its from or to object was not created.";
			bad.push({ kind: "bad", number, reason });
			continue;
		}
		resolved++;
		const name = edgeName(mapping, { from, to });
		if (!wanted.has(name)) wanted.set(name, { number, mapping, from, to });
	}
	const absent = await absentEdges(store, [...wanted.values()]);
	if (absent.length > 0) await numbering.open();
	const byShard = Map.groupBy(absent, (edge) =>
		shardOfList(edge, store.storage),
	);
	const written = await Promise.all(
		[...byShard].map(([shard, some]) => writeShard(run, shard, some)),
	);
	const counts = new Map<string, number>();
	let created = 0;
	for (const { mapping } of written.flatMap(({ created }) => created)) {
		counts.set(mapping.name, (counts.get(mapping.name) ?? 0) + 1);
		created++;
	}
	return {
		edges: counts,
		existing: resolved - created,
		bad,
		entries: written.flatMap(({ entry }) => entry ?? []),
	};
}

async function absentEdges(
	store: Store,
	edges: readonly NumberedEdge[],
): Promise<readonly NumberedEdge[]> {
	const found = await readDecisive(store.storage, "edges", edges);
	return edges.filter((_, at) => found[at] === null);
}

async function writeShard(
	{ pipeline, numbering, lease }: ImportRun,
	shard: number,
	wanted: readonly NumberedEdge[],
): Promise<{
	readonly created: readonly NumberedEdge[];
	readonly entry: BatchEntry | null;
}> {
	const inverses = wanted.map((edge) => inverseOf(pipeline.store, edge));
	const inversesHere = inverses.filter(
		(inverse) =>
			inverse !== null &&
			shardOfList(inverse, pipeline.store.storage) === shard,
	) as EdgeKey[];
	const keys: EdgeKey[] = [...wanted, ...inversesHere];
	const locked = distinctLists(keys);
	const indexes = new Map(
		inversesHere.map((inverse, at) => [inverse, wanted.length + at]),
	);
	const { result, row, invalidated } = await pipeline.transactWithInvalidations(
		{
			shard,
			lists: locked,
			edges: keys,
			decide(reads) {
				lease.assertNotExpired();
				const lastSequences = lastSequencesOf(locked, reads);
				const created: NumberedEdge[] = [];
				const edges: (EdgeKey & Omit<Edge, "from" | "to">)[] = [];
				const remote: EdgeUpdate[] = [];
				for (const [at, edge] of wanted.entries()) {
					if (reads.edges[at] !== null) continue;
					const { mapping, from, to, number } = edge;
					const list = listName(edge.mapping, edge.from);
					const sequence = numbering.sequenceInList(
						lastSequences.get(list) ?? 0,
						number,
					);
					lastSequences.set(list, sequence);
					const state = { state: PRESENT, version: 1, sequence } as const;
					created.push(edge);
					edges.push({ mapping, from, to, ...state });
					const inverse = inverses[at] ?? null;
					if (inverse === null) continue;
					const index = indexes.get(inverse);
					if (index === undefined) {
						remote.push({
							...inverse,
							mapping: inverse.mapping.name,
							...state,
						});
					} else if (reads.edges[index] === null) {
						edges.push({ ...inverse, ...state });
					}
				}
				return { result: { created, remote }, edges, entry: { edges: remote } };
			},
		},
	);
	return {
		created: result.created,
		entry: row && { row, edges: result.remote, isAcknowledged: invalidated },
	};
}

function inverseOf(
	store: Store,
	{ mapping, from, to }: NumberedEdge,
): EdgeKey | null {
	return mapping.inverse?.kind === "target"
		? {
				mapping: mappingOf(store.model, mapping.inverse.mapping),
				from: to,
				to: from,
			}
		: null;
}
