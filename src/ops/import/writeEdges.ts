import { type EdgeUpdate, mappingOf } from "../../graph/outbox/entry.ts";
import {
	distinctLists,
	lastSequencesOf,
} from "../../graph/store/lockedLists.ts";
import { valuesOrThrow } from "../../graph/store/readUncached.ts";
import type { Store } from "../../graph/store/store.ts";
import type { WritePipeline } from "../../graph/write/pipeline.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { listName } from "../../storage/keys.ts";
import { type Edge, type EdgeKey, PRESENT } from "../../storage/storage.ts";
import type { BatchOutbox, ImportRun } from "./importRun.ts";
import type { BadLine } from "./lineReader.ts";
import type { Numbering } from "./numbering.ts";
import { idOf, type NewEdge } from "./planBatch.ts";

export interface WrittenEdges {
	/** By edge name. */
	readonly edges: ReadonlyMap<string, number>;
	readonly existing: number;
	readonly bad: readonly BadLine[];
}

interface NumberedEdge {
	readonly number: number;
	readonly mapping: Mapping;
	readonly from: Id;
	readonly to: Id;
}

/** Make edges, and their inverses with them or as debts: one transaction a shard. Those that are there, or were removed since, are left as they are. */
export async function writeEdges(
	{ store, pipeline, numbering }: ImportRun,
	edges: readonly NewEdge[],
	debts: BatchOutbox,
): Promise<WrittenEdges> {
	const bad: BadLine[] = [];
	const wanted = new Map<string, NumberedEdge>();
	let named = 0;
	for (const { number, mapping, ...ends } of edges) {
		const from = idOf(ends.from);
		const to = idOf(ends.to);
		if (from === null || to === null) {
			const reason = "what it leads from or to was not made";
			bad.push({ kind: "bad", number, reason });
			continue;
		}
		named++;
		const name = `${mapping.name} ${from} ${to}`;
		if (!wanted.has(name)) wanted.set(name, { number, mapping, from, to });
	}
	const fresh = await missing(store, [...wanted.values()]);
	if (fresh.length > 0) await numbering.open();
	const byShard = Map.groupBy(fresh, ({ from }) => unpackId(from).shard);
	const written = await Promise.all(
		[...byShard].map(([shard, some]) =>
			writeShard(pipeline, numbering, shard, some, debts),
		),
	);
	const counts = new Map<string, number>();
	let made = 0;
	for (const { mapping } of written.flat()) {
		counts.set(mapping.name, (counts.get(mapping.name) ?? 0) + 1);
		made++;
	}
	return { edges: counts, existing: named - made, bad };
}

async function missing(
	store: Store,
	edges: readonly NumberedEdge[],
): Promise<readonly NumberedEdge[]> {
	if (edges.length === 0) return [];
	const found = valuesOrThrow(await store.storage.readEdges(edges));
	return edges.filter((_, at) => found[at] === null);
}

/** Answers the edges it made. */
async function writeShard(
	pipeline: WritePipeline,
	numbering: Numbering,
	shard: number,
	wanted: readonly NumberedEdge[],
	debts: BatchOutbox,
): Promise<readonly NumberedEdge[]> {
	const inverses = wanted.map((edge) => inverseOf(pipeline.store, edge));
	const inversesHere = inverses.filter(
		(inverse) => inverse !== null && unpackId(inverse.from).shard === shard,
	) as EdgeKey[];
	const keys: EdgeKey[] = [...wanted, ...inversesHere];
	const locked = distinctLists(keys);
	const places = new Map(
		inversesHere.map((inverse, at) => [inverse, wanted.length + at]),
	);
	const { result, row, invalidated } = await pipeline.transactWithInvalidations(
		{
			shard,
			lists: locked,
			edges: keys,
			decide(seen) {
				const tops = lastSequencesOf(locked, seen);
				const made: NumberedEdge[] = [];
				const edges: (EdgeKey & Omit<Edge, "from" | "to">)[] = [];
				const owed: EdgeUpdate[] = [];
				for (const [at, edge] of wanted.entries()) {
					if (seen.edges[at] !== null) continue;
					const { mapping, from, to, number } = edge;
					const list = listName(edge.mapping, edge.from);
					const sequence = numbering.sequenceInList(
						tops.get(list) ?? 0,
						number,
					);
					tops.set(list, sequence);
					const fact = { state: PRESENT, version: 1, sequence } as const;
					made.push(edge);
					edges.push({ mapping, from, to, ...fact });
					const inverse = inverses[at] ?? null;
					if (inverse === null) continue;
					const place = places.get(inverse);
					if (place === undefined) {
						owed.push({ ...inverse, mapping: inverse.mapping.name, ...fact });
					} else if (seen.edges[place] === null) {
						edges.push({ ...inverse, ...fact });
					}
				}
				return { result: { made, owed }, edges, entry: { edges: owed } };
			},
		},
	);
	// What a shared cache did not acknowledge is left to the outbox worker.
	if (row !== null && invalidated) debts.entries.push(row);
	debts.edges.push(...result.owed);
	return result.made;
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
