import type { Readable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import { deliverPending } from "../../graph/outbox/outboxWorker.ts";
import type { Store } from "../../graph/store/store.ts";
import { WritePipeline } from "../../graph/write/pipeline.ts";
import type { FieldReaders } from "../../model/fieldReaders.ts";
import { acquireImportLease } from "./importLease.ts";
import type { ImportRun } from "./importRun.ts";
import { createLineReader, type Line } from "./lineReader.ts";
import { readNumbering } from "./numbering.ts";
import { createProgressReporter, type ImportProgress } from "./progress.ts";
import { readBatches } from "./readBatches.ts";
import { type BatchReport, writeBatch } from "./writeBatch.ts";

export interface ImportOptions {
	/** How the values of fields are read: `fieldReaders(schema)`. */
	readonly fields: FieldReaders;
	/** Stop at the first bad line. What came before it stays. */
	readonly strict?: boolean;
	/** Stops at the end of a batch. */
	readonly signal?: AbortSignal;
	readonly onProgress?: (progress: ImportProgress) => void;
	/** Called when it has waited for a second: for what. */
	readonly onWaiting?: (what: string) => void;
	/** In the order of the lines. */
	readonly onBadLine?: (line: number, reason: string) => void;
	/** Of the source, so that progress can tell the time left. */
	readonly totalBytes?: number;
	/** Milliseconds since 1970. */
	readonly now?: () => number;
}

export interface ImportReport {
	/**
	 * `aborted` by the signal, `stopped` at a bad line when strict. Either is
	 * gone on with by running it again.
	 */
	readonly outcome: "finished" | "aborted" | "stopped";
	/** Read, empty ones included. */
	readonly lines: number;
	/** Made, by type. */
	readonly objects: Readonly<Record<string, number>>;
	/** Made, by edge name. */
	readonly edges: Readonly<Record<string, number>>;
	/** Lines whose object or edge was there already, and was left as it is. */
	readonly existing: number;
	readonly bad: number;
}

/**
 * Large enough that a batch's statements are few and full. SQLite answers within
 * the tick, so a batch is what a signal waits for; on a fleet each step of a
 * batch is a round trip to every host, and there are hosts enough to fill.
 */
const LINES_PER_BATCH = 2_000;
const LINES_PER_FLEET_BATCH = 6_000;

/**
 * Bring objects and edges in, a line each: text line by line, or bytes with
 * line ends. Idempotent by the lines' keys, so a run that was broken off, by
 * whatever, is gone on with by running it again from the start (PROTOCOLS §7).
 * Throws IN_USE when another import is at work, and what the storage throws.
 */
export async function importLines(
	store: Store,
	lines: AsyncIterable<string> | Readable,
	options: ImportOptions,
): Promise<ImportReport> {
	const { strict = false, signal, onBadLine, now = Date.now } = options;
	await using lease = await acquireImportLease(
		store.storage,
		options.onWaiting,
	);
	const pipeline = new WritePipeline(store);
	await payAll(pipeline);
	const numbering = await readNumbering(store.storage, now());
	const run: ImportRun = { store, pipeline, numbering, strict };
	const reader = createLineReader(store, options.fields);
	const progress = createProgressReporter(
		options.onProgress,
		options.totalBytes,
	);
	const total = new Totals();

	const report = (outcome: ImportReport["outcome"]) => total.report(outcome);
	const size = store.storage.hasSingleWriter
		? LINES_PER_BATCH
		: LINES_PER_FLEET_BATCH;
	for await (const batch of readBatches(lines, size, signal)) {
		await lease.assertHeld();
		const parsed: Line[] = [];
		for (const [at, text] of batch.lines.entries()) {
			if (text === "") continue;
			parsed.push(reader.read(text, total.lines + at + 1));
		}
		const written = await writeBatch(run, parsed);
		total.add(batch.lines.length, written);
		for (const { number, reason } of written.bad) onBadLine?.(number, reason);
		if (strict && written.bad.length > 0) {
			return { ...report("stopped"), lines: written.bad[0]?.number ?? 0 };
		}
		progress(total.lines, batch.bytes);
		// SQLite answers within the tick: without a turn of the event loop no
		// timer and no signal would ever be heard.
		await nextTurn();
	}
	if (signal?.aborted) return report("aborted");
	await lease.assertHeld();
	await numbering.close(total.lines);
	return report("finished");
}

/**
 * Objects whose keys are still owed would be made a second time. Paying beside
 * a living write is harmless, but for the claim of a rename under way, which
 * would be released under its feet.
 */
async function payAll(pipeline: WritePipeline): Promise<void> {
	const { storage } = pipeline.store;
	const swept = await deliverPending(
		pipeline,
		0,
		({ entry: debt }) =>
			storage.hasSingleWriter || debt.reservations === undefined,
	);
	if (swept.undelivered === 0) return;
	throw new CorkboardError(
		"UNAVAILABLE",
		`An import begins by paying what earlier writes owe, but got: ${swept.undelivered} that cannot be paid now. Try again when all shards answer.`,
		{ cause: swept.error },
	);
}

class Totals {
	lines = 0;
	readonly #objects = new Map<string, number>();
	readonly #edges = new Map<string, number>();
	#existing = 0;
	#bad = 0;

	add(lines: number, { objects, edges, existing, bad }: BatchReport): void {
		this.lines += lines;
		addAll(this.#objects, objects);
		addAll(this.#edges, edges);
		this.#existing += existing;
		this.#bad += bad.length;
	}

	report(outcome: ImportReport["outcome"]): ImportReport {
		return {
			outcome,
			lines: this.lines,
			objects: Object.fromEntries(this.#objects),
			edges: Object.fromEntries(this.#edges),
			existing: this.#existing,
			bad: this.#bad,
		};
	}
}

function addAll(
	sums: Map<string, number>,
	more: ReadonlyMap<string, number>,
): void {
	for (const [name, count] of more) {
		sums.set(name, (sums.get(name) ?? 0) + count);
	}
}
