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
	/** Stop at the first bad line. What was imported before it stays. */
	readonly strict?: boolean;
	/** Stops at the end of a batch. */
	readonly signal?: AbortSignal;
	readonly onProgress?: (progress: ImportProgress) => void;
	/** Called once, with what the import waits for, after a second. */
	readonly onWaiting?: (what: string) => void;
	/** In the order of the lines. */
	readonly onBadLine?: (line: number, reason: string) => void;
	/** Size of the source, so that progress includes the time left. */
	readonly totalBytes?: number;
	/** Milliseconds since 1970. */
	readonly now?: () => number;
}

export interface ImportReport {
	/**
	 * `aborted` by the signal, or `stopped` at a bad line when strict. Running the
	 * import again resumes it.
	 */
	readonly status: "finished" | "aborted" | "stopped";
	/** Lines that were read, including empty ones. */
	readonly lines: number;
	/** Number of created objects, by type. */
	readonly objects: Readonly<Record<string, number>>;
	/** Number of created edges, by edge name. */
	readonly edges: Readonly<Record<string, number>>;
	/** Lines whose object or edge existed, and stays as it is. */
	readonly existing: number;
	readonly bad: number;
}

/**
 * Large enough for few, full statements. SQLite calls block the event loop, so a
 * signal waits for the end of a batch. On a fleet each step of a batch is a
 * round trip to every host, so larger batches are faster.
 */
const LINES_PER_BATCH = 2_000;
const LINES_PER_FLEET_BATCH = 6_000;

/**
 * Imports objects and edges, one per line, from an iterable of lines or a stream
 * of bytes. Idempotent by the import keys of the lines: run an interrupted
 * import again, from the first line, to resume it (docs/consistency.md, "7.
 * Import"). Throws IN_USE when another import runs, and what the storage throws.
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
	await deliverAll(pipeline);
	const numbering = await readNumbering(store.storage, now());
	const run: ImportRun = { store, pipeline, numbering, strict, lease };
	const reader = createLineReader(store, options.fields);
	const progress = createProgressReporter(
		options.onProgress,
		options.totalBytes,
	);
	const total = new Totals();

	const report = (status: ImportReport["status"]) => total.report(status);
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
		// SQLite calls block: without a turn of the event loop no timer and no
		// signal handler would run.
		await nextTurn();
	}
	if (signal?.aborted) return report("aborted");
	await lease.assertHeld();
	await numbering.close(total.lines);
	return report("finished");
}

/**
 * Delivers the import keys of earlier runs: without them their objects would be
 * created a second time. Entries with reservations of other processes are left,
 * because delivery would make a rename in progress fail.
 */
async function deliverAll(pipeline: WritePipeline): Promise<void> {
	const { storage } = pipeline.store;
	const pass = await deliverPending(
		pipeline,
		0,
		({ entry }) => storage.hasSingleWriter || entry?.reservations === undefined,
	);
	if (pass.undelivered === 0) return;
	throw new CorkboardError(
		"UNAVAILABLE",
		`An import first delivers pending outbox entries, and ${pass.undelivered} cannot be delivered now. Try again when all shards answer.`,
		{ cause: pass.error },
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

	report(status: ImportReport["status"]): ImportReport {
		return {
			status,
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
