import {
	setImmediate as nextTurn,
	setTimeout as sleep,
} from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import { isUnreadable } from "../../graph/outbox/decodeEntry.ts";
import {
	deliverPending,
	type Undelivered,
} from "../../graph/outbox/deliverPending.ts";
import type { DeliveryPass } from "../../graph/outbox/diagnostics.ts";
import type { Store } from "../../graph/store/store.ts";
import { WritePipeline } from "../../graph/write/pipeline.ts";
import type { FieldReaders } from "../../model/fieldReaders.ts";
import { isUnchanged, readKnownKeys } from "./existingData.ts";
import { acquireImportLease } from "./importLease.ts";
import type { ImportRun } from "./importRun.ts";
import { createLineReader, type Line, type Missing } from "./lineReader.ts";
import { readNumbering } from "./numbering.ts";
import { createProgressReporter, type ImportProgress } from "./progress.ts";
import { type LineSource, readBatches } from "./readBatches.ts";
import { type BatchReport, writeBatch } from "./writeBatch.ts";

export interface ImportOptions {
	/** How the values of fields are read: `fieldReaders(schema)`. */
	readonly fields: FieldReaders;
	/** Stop at the first bad line. What was imported before it stays. */
	readonly strict?: boolean;
	/** Whether an edge that an import made moves in its lists if a line says another time of it (default: it stays where it is). */
	readonly movesEdges?: boolean;
	/** Whether what was deleted here comes back if a line with a `rev` or a time says that it is there (default: it stays deleted). */
	readonly revives?: boolean;
	/** Stops at the end of a batch. */
	readonly signal?: AbortSignal;
	readonly onProgress?: (progress: ImportProgress) => void;
	/** Called once, with what the import waits for, after a second. */
	readonly onWaiting?: (what: string) => void;
	/**
	 * Pauses before a batch is written again after a shard did not answer
	 * (default: none, it throws). Milliseconds.
	 */
	readonly retryAfterMs?: readonly number[];
	/** Called before each of those pauses. */
	readonly onRetry?: (error: CorkboardError, afterMs: number) => void;
	/** In the order of the lines. `missing` is what no line before has, if that is why. */
	readonly onBadLine?: (
		line: number,
		reason: string,
		missing?: Missing,
	) => void;
	/** Called after each batch is written: what was written so far. It stays, whatever becomes of the import. */
	readonly onBatch?: (report: ImportReport) => void;
	/** How many lines of this source earlier imports have read: the numbers of the lines continue from there (default 0). */
	readonly linesBefore?: number;
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
	/** Lines whose object or edge existed, and stays as it is: also what a batch created before a shard stopped answering. */
	readonly existing: number;
	/** Objects that were changed to what a line with a new `rev` says, and edges that moved to another time. */
	readonly changed: number;
	/** Objects and edges that a line with `deleted` deleted. */
	readonly deleted: number;
	/** Lines that say something new of an object or edge that was changed here since: it stays as it is. */
	readonly newerHere: number;
	readonly bad: number;
	/** Outbox entries that shared caches or shards did not acknowledge. Outbox workers, or the next import, deliver them. */
	readonly pending: number;
}

/**
 * Large enough for few, full statements. SQLite calls block the event loop, so a
 * signal waits for the end of a batch. On a fleet each step of a batch is a
 * round trip to every host, so larger batches are faster.
 */
const LINES_PER_BATCH = 2_000;
const LINES_PER_FLEET_BATCH = 12_000;

/** For imports that nobody watches: half a minute. */
export const PATIENT_RETRIES_MS = [1_000, 2_000, 4_000, 8_000, 16_000] as const;

/**
 * Imports objects and edges, one per line, from an iterable of lines or a stream
 * of bytes. Idempotent by the import keys of the lines: run an interrupted
 * import again, from the first line, to resume it (docs/consistency.md, "7.
 * Import"). Throws IN_USE when another import runs, and what the storage throws.
 */
export async function importLines(
	store: Store,
	lines: LineSource,
	options: ImportOptions,
): Promise<ImportReport> {
	const {
		strict = false,
		movesEdges = false,
		revives = false,
		signal,
		onBadLine,
		now = Date.now,
	} = options;
	await using lease = await acquireImportLease(
		store.storage,
		options.onWaiting,
	);
	const pipeline = new WritePipeline(store);
	const begin = async (): Promise<ImportRun> => {
		await lease.assertHeld();
		await deliverImportKeys(pipeline);
		const numbering = await readNumbering(store.storage, now());
		const options = { strict, movesEdges, revives };
		return { store, pipeline, numbering, lease, ...options };
	};
	let run = await begin();
	const reader = createLineReader(store, options.fields);
	const progress = createProgressReporter(
		options.onProgress,
		options.totalBytes,
	);
	const total = new Totals();
	total.lines = options.linesBefore ?? 0;

	/** The delivery of the last batch; nothing is written after the lease. */
	let delivery: Promise<void> = Promise.resolve();
	await using written = new AsyncDisposableStack();
	written.defer(() => delivery.catch(() => {}));
	const repeat = async () => {
		await delivery.catch(() => {});
		// As an import that resumes this one: what was written is found.
		run = await begin();
		delivery = Promise.resolve();
	};
	const report = async (status: ImportReport["status"]) => {
		await withRetries(options, async (isRepeated) => {
			if (isRepeated) await repeat();
			else await delivery;
		});
		return total.report(status);
	};
	const size = store.storage.map.hasSingleWriter
		? LINES_PER_BATCH
		: LINES_PER_FLEET_BATCH;
	for await (const batch of readBatches(lines, size, signal)) {
		await lease.assertHeld();
		const done = await withRetries(options, async (isRepeated) => {
			if (isRepeated) await repeat();
			const known = await readKnownKeys(store, batch.lines);
			const parsed: Line[] = [];
			let unchanged = 0;
			for (const [at, line] of batch.lines.entries()) {
				if (typeof line === "string" && line.trim() === "") continue;
				if (!revives && isUnchanged(line, known)) unchanged++;
				else parsed.push(reader.read(line, total.lines + at + 1));
			}
			const written = await writeBatch(run, parsed, known, delivery);
			return { ...written, existing: written.existing + unchanged };
		});
		if (done === "aborted") break;
		total.add(batch.lines.length, done);
		delivery = done.delivery.then((pending) => {
			total.pending += pending;
		});
		delivery.catch(() => {});
		for (const { number, reason, missing } of done.bad) {
			onBadLine?.(number, reason, missing);
		}
		if (strict && done.bad.length > 0) {
			return { ...(await report("stopped")), lines: done.bad[0]?.number ?? 0 };
		}
		options.onBatch?.(total.report("aborted"));
		progress(total.lines, batch.bytes);
		// SQLite calls block: without a turn of the event loop no timer and no
		// signal handler would run.
		await nextTurn();
	}
	if (signal?.aborted) return report("aborted");
	const finished = await report("finished");
	await lease.assertHeld();
	await run.numbering.close(total.lines);
	// The caches may answer by now.
	if (total.pending === 0) return finished;
	return { ...finished, pending: (await deliverEntries(pipeline)).undelivered };
}

/**
 * Delivers what earlier runs left in the outbox. Their import keys have to be
 * delivered: without them their objects would be created a second time. What
 * else cannot be delivered, such as an invalidation that a cache does not
 * acknowledge, stays pending.
 */
async function deliverImportKeys(pipeline: WritePipeline): Promise<void> {
	// An object whose activation a cache does not acknowledge is active all the
	// same: the second time its import key is delivered.
	let blocking = await undeliveredKeys(pipeline);
	if (blocking.length > 0) blocking = await undeliveredKeys(pipeline);
	const [first] = blocking;
	if (first === undefined) return;
	if (isUnreadable(first.error)) {
		const { shard, local } = first.entry;
		throw new CorkboardError(
			"BAD_DATA",
			`Row ${local} of the outbox of shard ${shard} cannot be read and may hold import keys: ${(first.error as Error).message} Repair or delete the row, and run the import again.`,
			{ cause: first.error },
		);
	}
	throw new CorkboardError(
		"UNAVAILABLE",
		`An import first delivers the import keys in pending outbox entries, and ${blocking.length} entries cannot be delivered now. Try again when all shards answer.`,
		{ cause: first.error },
	);
}

async function withRetries<T>(
	{
		retryAfterMs = [],
		onRetry,
		signal,
	}: Pick<ImportOptions, "retryAfterMs" | "onRetry" | "signal">,
	attempt: (isRepeated: boolean) => Promise<T>,
): Promise<T | "aborted"> {
	for (let tries = 0; ; tries++) {
		try {
			return await attempt(tries > 0);
		} catch (error) {
			const ms = retryAfterMs[tries];
			const isUnavailable =
				error instanceof CorkboardError && error.code === "UNAVAILABLE";
			if (ms === undefined || !isUnavailable) throw error;
			onRetry?.(error, ms);
			await sleep(ms, undefined, { signal }).catch(() => {});
			if (signal?.aborted) return "aborted";
		}
	}
}

/** Entries whose import keys, or the objects that these wait for, could not be delivered. */
async function undeliveredKeys(
	pipeline: WritePipeline,
): Promise<readonly Undelivered[]> {
	const blocking: Undelivered[] = [];
	await deliverEntries(pipeline, (undelivered) => {
		const { entry, reduced } = undelivered;
		const left = reduced ?? entry.entry;
		if (
			left === null ||
			left.lookups !== undefined ||
			left.pendingObjects !== undefined
		) {
			blocking.push(undelivered);
		}
	});
	return blocking;
}

/** Entries with reservations of other processes are left, because delivery would make a rename in progress fail. */
function deliverEntries(
	pipeline: WritePipeline,
	onUndelivered?: (undelivered: Undelivered) => void,
): Promise<DeliveryPass> {
	const { hasSingleWriter } = pipeline.store.storage.map;
	return deliverPending(pipeline, 0, {
		isWanted: ({ entry }) =>
			hasSingleWriter || entry?.reservations === undefined,
		...(onUndelivered && { onUndelivered }),
	});
}

class Totals {
	lines = 0;
	pending = 0;
	readonly #objects = new Map<string, number>();
	readonly #edges = new Map<string, number>();
	#existing = 0;
	#changed = 0;
	#deleted = 0;
	#newerHere = 0;
	#bad = 0;

	add(lines: number, batch: BatchReport): void {
		const { objects, edges, existing, bad } = batch;
		this.#changed += batch.changed;
		this.#deleted += batch.deleted;
		this.#newerHere += batch.newerHere;
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
			changed: this.#changed,
			deleted: this.#deleted,
			newerHere: this.#newerHere,
			bad: this.#bad,
			pending: this.pending,
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
