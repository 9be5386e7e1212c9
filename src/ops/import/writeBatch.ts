import { CorkboardError } from "../../errors.ts";
import { applyEdges } from "../../graph/outbox/edgeUpdates.ts";
import type { NaturalKey } from "../../graph/outbox/entry.ts";
import { insertLookups } from "../../graph/outbox/reservations.ts";
import { valuesOrThrow } from "../../graph/store/readUncached.ts";
import { type Store, typeNameOf } from "../../graph/store/store.ts";
import { IMPORT_LOOKUP } from "../lookups.ts";
import { readExistingData } from "./existingData.ts";
import type { BatchOutbox, ImportRun } from "./importRun.ts";
import type { BadLine, Line } from "./lineReader.ts";
import { idOf, inheritedFrom, planBatch } from "./planBatch.ts";
import { writeEdges } from "./writeEdges.ts";
import { writeLevel } from "./writeLevel.ts";

export interface BatchReport {
	/** By type. */
	readonly objects: ReadonlyMap<string, number>;
	/** By edge name. */
	readonly edges: ReadonlyMap<string, number>;
	readonly existing: number;
	/** In the order of the lines. */
	readonly bad: readonly BadLine[];
}

/**
 * One batch: objects in waves, so that each finds the ids of those it refers
 * to; then edges; then all that is owed, together. What a crash leaves
 * unpaid, the sweep at the start of the next run pays (PROTOCOLS §7).
 */
export async function writeBatch(
	run: ImportRun,
	lines: readonly Line[],
): Promise<BatchReport> {
	const { store, pipeline } = run;
	const known = await readExistingData(store, lines, (line) =>
		inheritedFrom(store.domain.visibility, line),
	);
	const plan = planBatch(store, lines, known, run.strict);
	const bad = [...plan.bad];
	const debts: BatchOutbox = { entries: [], edges: [] };
	const waves = Map.groupBy(plan.objects, ({ level: wave }) => wave);
	for (let wave = 0; waves.has(wave); wave++) {
		bad.push(...(await writeLevel(run, waves.get(wave) ?? [], debts)));
	}
	const written = await writeEdges(run, plan.edges, debts);
	bad.push(...written.bad);

	const objects = new Map<string, number>();
	const keys: NaturalKey[] = [];
	for (const object of plan.objects) {
		const id = idOf(object);
		if (id === null) continue;
		keys.push({ name: IMPORT_LOOKUP, key: object.line.key, id });
		const type = object.line.type.name;
		objects.set(type, (objects.get(type) ?? 0) + 1);
	}
	const rows = valuesOrThrow(await insertLookups(pipeline, keys));
	const elsewhere = keys.find(({ id }, at) => rows[at]?.id !== id);
	if (elsewhere !== undefined) throw isAnothers(store, elsewhere);
	await applyEdges(pipeline, debts.edges);
	if (debts.entries.length > 0)
		await pipeline.deleteOutboxEntries(debts.entries);
	return {
		objects,
		edges: written.edges,
		existing: plan.existing + written.existing,
		bad: bad.toSorted((a, b) => a.number - b.number),
	};
}

function isAnothers(store: Store, { key, id }: NaturalKey): CorkboardError {
	return new CorkboardError(
		"BAD_DATA",
		`expected the import key ${key} to lead to the ${typeNameOf(store.model, id)} ${id} just made but got another object; another import was at work`,
	);
}
