import { type EdgeUpdate, mappingNamed } from "../../graph/outbox/entry.ts";
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
import {
	type Edge,
	type EdgeKey,
	PRESENT,
	REMOVED,
} from "../../storage/rows.ts";
import type { BatchEntry, ImportRun } from "./importRun.ts";
import type { BadLine } from "./lineReader.ts";
import { isOfImport, type Numbering, sequenceAt } from "./numbering.ts";
import { idOf, type NewEdge } from "./planBatch.ts";
import { goneOf } from "./wholes.ts";

interface WrittenEdges {
	/** Number of created edges, by edge name. */
	readonly edges: ReadonlyMap<string, number>;
	readonly removed: number;
	/** To another time. */
	readonly moved: number;
	/** As it should be already. */
	readonly existing: number;
	/** Changed here since, and left as they are. */
	readonly newerHere: number;
	readonly bad: readonly BadLine[];
	readonly entries: readonly BatchEntry[];
}

interface NumberedEdge {
	readonly number: number;
	readonly mapping: Mapping;
	readonly from: Id;
	readonly to: Id;
	readonly isDeleted: boolean;
	readonly at: number | null;
}

/**
 * Creates and removes edges, with one transaction per shard. Inverse edges on
 * other shards go into the outbox. An edge that was made or removed here by
 * anything but an import stays as it is.
 */
export async function writeEdges(
	run: ImportRun,
	edges: readonly NewEdge[],
): Promise<WrittenEdges> {
	const { numbering } = run;
	const bad: BadLine[] = [];
	const wanted = new Map<string, NumberedEdge>();
	let resolved = 0;
	for (const { number, mapping, isDeleted, at, ...ends } of edges) {
		const from = idOf(ends.from);
		const to = idOf(ends.to);
		if (from === null || to === null) {
			const reason = "its from or to object was not created.";
			bad.push({ kind: "bad", number, reason });
			continue;
		}
		resolved++;
		const name = edgeName(mapping, { from, to });
		const before = wanted.get(name);
		if (before === undefined || before.isDeleted !== isDeleted) {
			wanted.set(name, { number, mapping, from, to, isDeleted, at });
		}
	}
	const { changed, newerHere } = await edgesToChange(run, [...wanted.values()]);
	if (changed.length > 0) await numbering.open();
	const byShard = Map.groupBy(changed, (edge) =>
		shardOfList(edge, run.store.storage),
	);
	const written = await Promise.all(
		[...byShard].map(([shard, some]) => writeShard(run, shard, some)),
	);
	const counts = new Map<string, number>();
	const moved = written.reduce((sum, one) => sum + one.moved, 0);
	let [created, removed] = [0, 0];
	for (const edge of written.flatMap(({ changed }) => changed)) {
		const { name } = edge.mapping;
		if (edge.isDeleted) removed++;
		else {
			counts.set(name, (counts.get(name) ?? 0) + 1);
			created++;
		}
	}
	return {
		edges: counts,
		removed,
		moved,
		newerHere,
		existing: resolved - created - removed - moved - newerHere,
		bad,
		entries: written.flatMap(({ entry }) => entry ?? []),
	};
}

type Verdict = "change" | "existing" | "newerHere";

/** What becomes of an edge: only what an import wrote is changed by one. */
function verdictOf(
	{ isDeleted, at }: NumberedEdge,
	old: Edge | null,
	{ movesEdges, revives }: Pick<ImportRun, "movesEdges" | "revives">,
): Verdict {
	if (old === null) return isDeleted ? "existing" : "change";
	if ((old.state === PRESENT) === !isDeleted) {
		const isMoved =
			movesEdges &&
			!isDeleted &&
			at !== null &&
			isOfImport(old.sequence) &&
			at !== Math.floor(old.sequence / 1_000);
		return isMoved ? "change" : "existing";
	}
	if (!isDeleted && revives) return "change";
	// A line without a time says nothing of edges that were removed.
	if (!isDeleted && at === null) return "existing";
	return isOfImport(old.sequence) ? "change" : "newerHere";
}

async function edgesToChange(
	run: ImportRun,
	edges: readonly NumberedEdge[],
): Promise<{
	readonly changed: readonly NumberedEdge[];
	readonly newerHere: number;
}> {
	const found = await readDecisive(run.store.storage, "edges", edges);
	const verdicts = edges.map((edge, at) =>
		verdictOf(edge, found[at] ?? null, run),
	);
	if (run.revives) {
		// An edge goes with its ends.
		const isRevived = (at: number) =>
			verdicts[at] === "change" &&
			!edges[at]?.isDeleted &&
			found[at]?.state === REMOVED;
		const revived = edges.filter((_, at) => isRevived(at));
		const gone = await goneOf(
			run.store,
			revived.flatMap(({ from, to }) => [from, to]),
		);
		for (const [at, { from, to }] of edges.entries()) {
			const isGone = gone.has(from) || gone.has(to);
			if (isGone && isRevived(at)) verdicts[at] = "existing";
		}
	}
	return {
		changed: edges.filter((_, at) => verdicts[at] === "change"),
		newerHere: verdicts.filter((verdict) => verdict === "newerHere").length,
	};
}

async function writeShard(
	run: ImportRun,
	shard: number,
	wanted: readonly NumberedEdge[],
): Promise<{
	/** Created or removed. */
	readonly changed: readonly NumberedEdge[];
	readonly moved: number;
	readonly entry: BatchEntry | null;
}> {
	const { pipeline, numbering, lease } = run;
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
				const changed: NumberedEdge[] = [];
				let moved = 0;
				const edges: (EdgeKey & Omit<Edge, "from" | "to">)[] = [];
				const remote: EdgeUpdate[] = [];
				for (const [at, edge] of wanted.entries()) {
					const old = reads.edges[at] ?? null;
					if (verdictOf(edge, old, run) !== "change") continue;
					const { mapping, from, to } = edge;
					const list = listName(mapping, from);
					const last = lastSequences.get(list) ?? 0;
					const sequence = sequenceOf(numbering, edge, last, reads.now);
					lastSequences.set(list, Math.max(last, sequence));
					const next = {
						state: edge.isDeleted ? REMOVED : PRESENT,
						version: (old?.version ?? 0) + 1,
						sequence,
					} as const;
					if (old?.state === next.state) moved++;
					else changed.push(edge);
					edges.push({ mapping, from, to, ...next });
					const inverse = inverses[at] ?? null;
					if (inverse === null) continue;
					const index = indexes.get(inverse);
					if (index === undefined) {
						remote.push({
							...inverse,
							mapping: inverse.mapping.name,
							...next,
						});
					} else if ((reads.edges[index]?.version ?? 0) < next.version) {
						edges.push({ ...inverse, ...next });
					}
				}
				const result = { changed, moved, remote };
				return { result, edges, entry: { edges: remote } };
			},
		},
	);
	return {
		changed: result.changed,
		moved: result.moved,
		entry: row && { row, edges: result.remote, isAcknowledged: invalidated },
	};
}

function sequenceOf(
	numbering: Numbering,
	{ isDeleted, at, number }: NumberedEdge,
	last: number,
	now: number,
): number {
	// The sequence of a removed edge is the time of its removal: `purge` needs it.
	if (isDeleted) return sequenceAt(Math.floor(now / 1_000), number);
	return at === null
		? numbering.sequenceInList(last, number)
		: sequenceAt(at, number);
}

function inverseOf(
	store: Store,
	{ mapping, from, to }: NumberedEdge,
): EdgeKey | null {
	return mapping.inverse?.kind === "target"
		? {
				mapping: mappingNamed(store.model, mapping.inverse.mapping),
				from: to,
				to: from,
			}
		: null;
}
