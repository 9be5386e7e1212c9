import { CorkboardError } from "../../errors.ts";
import type { EdgeUpdate, NaturalKey } from "../../graph/outbox/entry.ts";
import { isInvalidation } from "../../graph/outbox/hostBreakers.ts";
import { applyEdges } from "../../graph/outbox/parts/edgeUpdates.ts";
import { insertLookups } from "../../graph/outbox/parts/reservations.ts";
import { valuesOrThrow } from "../../graph/store/readUncached.ts";
import type { Store } from "../../graph/store/store.ts";
import { typeNameOf } from "../../graph/store/typeName.ts";
import { IMPORT_LOOKUP } from "../lookups.ts";
import { type KnownKeys, readExistingData } from "./existingData.ts";
import type { BatchEntry, ImportRun } from "./importRun.ts";
import type { BadLine, Line } from "./lineReader.ts";
import { idOf, neededContents, planBatch } from "./planBatch.ts";
import { CREATED_VERSION, tokenOf } from "./revision.ts";
import { writeChanges } from "./writeChanges.ts";
import { writeEdges } from "./writeEdges.ts";
import { writeLevel } from "./writeLevel.ts";

export interface BatchReport {
	/** Number of created objects, by type. */
	readonly objects: ReadonlyMap<string, number>;
	/** Number of created edges, by edge name. */
	readonly edges: ReadonlyMap<string, number>;
	readonly existing: number;
	/** Objects, and edges that moved. */
	readonly changed: number;
	/** Objects and edges. */
	readonly deleted: number;
	/** Lines of objects and edges that were changed here since, and stay as they are. */
	readonly newerHere: number;
	/** In the order of the lines. */
	readonly bad: readonly BadLine[];
	/** Resolves when the edges of other shards are there too: with the outbox entries that shared caches did not acknowledge. */
	readonly delivery: Promise<number>;
}

/**
 * Writes one batch: objects by level, so that the objects they reference have
 * ids; then edges; then the updates of other shards, together. If the process
 * dies, the next run first delivers what is left in the outbox
 * (docs/consistency.md, "7. Import").
 *
 * The updates are delivered while the next batch creates its objects. That one
 * waits for them (`former`) before it looks for edges, which may be among them.
 */
export async function writeBatch(
	run: ImportRun,
	lines: readonly Line[],
	known: KnownKeys,
	former: Promise<unknown>,
): Promise<BatchReport> {
	const { store, pipeline } = run;
	const existing = await readExistingData(store, lines, known, (line) =>
		neededContents(store.domain.visibility, line),
	);
	const plan = planBatch(store, lines, existing, run);
	const bad = [...plan.bad];
	const outbox: BatchEntry[] = [];
	const levels = Map.groupBy(plan.objects, ({ level }) => level);
	for (let level = 0; levels.has(level); level++) {
		const created = await writeLevel(run, levels.get(level) ?? []);
		bad.push(...created.bad);
		outbox.push(...created.entries);
	}
	const changes = await writeChanges(run, plan.known);
	bad.push(...changes.bad);
	await former;
	const written = await writeEdges(run, plan.edges);
	outbox.push(...written.entries);
	bad.push(...written.bad);

	const objects = new Map<string, number>();
	const keys: (NaturalKey & { readonly token: string })[] = [];
	for (const object of plan.objects) {
		const id = idOf(object);
		if (id === null) continue;
		const { key, rev } = object.line;
		const token = rev === null ? "" : tokenOf(rev, CREATED_VERSION);
		keys.push({ name: IMPORT_LOOKUP, key, id, token });
		const type = object.line.type.name;
		objects.set(type, (objects.get(type) ?? 0) + 1);
	}
	const rows = valuesOrThrow(await insertLookups(pipeline, keys));
	const conflict = keys.find(({ id }, at) => rows[at]?.id !== id);
	if (conflict !== undefined) throw keyConflict(store, conflict);
	const delivery = deliver(run, outbox);
	// The caller that waits for it sees why.
	delivery.catch(() => {});
	return {
		objects,
		edges: written.edges,
		existing: plan.existing + changes.unchanged + written.existing,
		changed: changes.changed + written.moved,
		deleted: changes.deleted + written.removed,
		newerHere: changes.newerHere + written.newerHere,
		bad: bad.toSorted((a, b) => a.number - b.number),
		delivery,
	};
}

/** Applies the edge updates of entries, and deletes those entries. Returns how many caches did not acknowledge. */
async function deliver(
	{ pipeline }: ImportRun,
	outbox: readonly BatchEntry[],
): Promise<number> {
	const unacknowledged = new Set<EdgeUpdate>();
	await applyEdges(
		pipeline,
		outbox.flatMap(({ edges }) => edges),
		(updates, error) => {
			// The edges are written. Their entries stay, for the outbox worker to invalidate the caches.
			if (!isInvalidation(error)) throw error;
			for (const update of updates) unacknowledged.add(update);
		},
	);
	const delivered = outbox.filter(
		({ edges, isAcknowledged }) =>
			isAcknowledged && !edges.some((edge) => unacknowledged.has(edge)),
	);
	if (delivered.length > 0) {
		await pipeline.deleteOutboxEntries(delivered.map(({ row }) => row));
	}
	return outbox.length - delivered.length;
}

function keyConflict(store: Store, { key, id }: NaturalKey): CorkboardError {
	return new CorkboardError(
		"BAD_DATA",
		`Import key ${key} of the new ${typeNameOf(store.model, id)} ${id} was given to another object by another import.`,
	);
}
