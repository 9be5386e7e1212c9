import { setTimeout as sleep } from "node:timers/promises";
import type { Store } from "../../graph/store/store.ts";
import type { FieldReaders } from "../../model/fieldReaders.ts";
import { type ImportOptions, importLines } from "../import/importLines.ts";
import type { RawLine } from "../import/readBatches.ts";
import type { BadRow, BadRows, GoodRow } from "./badRows.ts";
import { total } from "./passLedger.ts";
import { type RowLine, rawLine, type TablePlan } from "./plan.ts";
import type { LogBatch, SourceLog } from "./sources/log.ts";
import type { Source } from "./sources/source.ts";
import type { MigrationState, PassReport } from "./state.ts";
import { TouchedRows } from "./touchedRows.ts";
import { explainMissing, refusalOf } from "./whyMissing.ts";

export interface FollowOptions {
	readonly plans: readonly TablePlan[];
	readonly source: Source;
	readonly log: SourceLog;
	readonly fields: FieldReaders;
	/** Its `follow` says from where. */
	readonly state: MigrationState;
	readonly saveState: (state: MigrationState) => void;
	readonly badRows: BadRows;
	readonly writing: Pick<
		ImportOptions,
		"onWaiting" | "retryAfterMs" | "onRetry"
	>;
	/** Ends when all up to this position is here (default: with the signal). */
	readonly until?: string;
	readonly signal: AbortSignal;
	readonly onProgress?: (progress: FollowProgress) => void;
	/** How long after the log has named a row it is read. Milliseconds. */
	readonly settleMs?: number;
	readonly now?: () => number;
}

interface FollowProgress {
	/** Rows that the log has named since this run began, without those that were refused before and are tried again. */
	readonly rows: number;
	/** How far behind the old database, in seconds. */
	readonly lagSeconds: number;
}

/**
 * A server sends a transaction to those who follow its log a moment before its
 * other connections see it. So rows are read a moment after the log has named them.
 */
const SETTLE_MS = 1_000;
/** How often a row that was refused is tried again at once: the name that it wants may become free in the same moment. */
const TRIES = 3;

/** As what a bad row is counted. */
const COUNTED = {
	none: "bad",
	deleted: "withDeleted",
	refused: "withRefused",
} as const;

/** The rows that were refused, and what they wait for. The file of bad rows has the same, so another run knows them too. */
class Refusals {
	readonly #rows = new Map<string, BadRow>();
	/** By the key of an object that is not here: the rows that refer to it. */
	readonly #waiting = new Map<string, Set<string>>();
	readonly #tries = new Map<string, number>();

	constructor(rows: readonly BadRow[]) {
		for (const row of rows) {
			this.add(row);
			// An earlier run has tried it.
			this.#tries.set(row.key, TRIES);
		}
	}

	keys(): Iterable<string> {
		return this.#rows.keys();
	}

	get(key: string): BadRow | undefined {
		return this.#rows.get(key);
	}

	/** Returns whether to try the row again at once. */
	add(row: BadRow): boolean {
		const { key, missing } = row;
		this.#unlist(key);
		this.#rows.set(key, row);
		if (missing !== undefined) {
			const waiting = this.#waiting.get(missing.key) ?? new Set();
			this.#waiting.set(missing.key, waiting.add(key));
			return false;
		}
		const tries = this.#tries.get(key) ?? 0;
		this.#tries.set(key, tries + 1);
		return tries < TRIES;
	}

	/** The row is not bad any more. Returns whether it was. */
	delete(key: string): boolean {
		this.#unlist(key);
		this.#tries.delete(key);
		return this.#rows.delete(key);
	}

	/** The rows that refer to this object. */
	waitingFor(missing: string): readonly string[] {
		return [...(this.#waiting.get(missing) ?? [])];
	}

	#unlist(key: string): void {
		const missing = this.#rows.get(key)?.missing?.key;
		if (missing === undefined) return;
		const waiting = this.#waiting.get(missing);
		waiting?.delete(key);
		if (waiting?.size === 0) this.#waiting.delete(missing);
	}
}

/**
 * Brings over what changes in the old database, until it is stopped. Its log says
 * which rows were touched; what they hold is read from their tables, so that a row
 * is taken over as a pass would. To read a part of the log twice does no harm.
 */
export async function follow(
	store: Store,
	options: FollowOptions,
): Promise<PassReport> {
	const { plans, log, state, badRows, signal, until, now = Date.now } = options;
	const start = state.follow?.position;
	if (start === undefined) throw new TypeError("The state has no position.");
	const startedAt = performance.now();
	const last = state.passes.at(-1);
	const base = last?.kind === "follow" ? last : null;
	const before = base === null ? state.passes : state.passes.slice(0, -1);
	const began = base?.began ?? now();
	const sum = { rows: 0, made: 0, changed: 0, deleted: 0 };
	const more = { unchanged: 0, newerHere: 0 };
	const refusedFirst = { bad: 0, withDeleted: 0, withRefused: 0 };
	const refusals = new Refusals(badRows.read());
	let touched = new TouchedRows(plans);
	// What they lack may have come while nobody followed.
	for (const key of refusals.keys()) touched.addKey(key);
	let position = start;
	let savedAt = Number.NEGATIVE_INFINITY;

	const report = (): PassReport => ({
		kind: "follow",
		began,
		seconds: (base?.seconds ?? 0) + (performance.now() - startedAt) / 1_000,
		rows: (base?.rows ?? 0) + sum.rows,
		made: (base?.made ?? 0) + sum.made,
		changed: (base?.changed ?? 0) + sum.changed,
		deleted: (base?.deleted ?? 0) + sum.deleted,
		unchanged: (base?.unchanged ?? 0) + more.unchanged,
		bad: (base?.bad ?? 0) + refusedFirst.bad,
		withDeleted: (base?.withDeleted ?? 0) + refusedFirst.withDeleted,
		withRefused: (base?.withRefused ?? 0) + refusedFirst.withRefused,
		newerHere: (base?.newerHere ?? 0) + more.newerHere,
		isFinished: true,
	});
	const save = (): PassReport => {
		const done = report();
		options.saveState({
			...state,
			passes: [...before, done],
			follow: { since: state.follow?.since ?? began, position },
		});
		return done;
	};

	async function write(some: TouchedRows): Promise<void> {
		const lines = await some.lines(options.source);
		const refusing: BadRow[] = [];
		const done = await importLines(store, texts(lines), {
			...options.writing,
			fields: options.fields,
			movesEdges: true,
			onBadLine(line, reason, missing) {
				const key = lines[line - 1]?.key;
				if (key === undefined) return;
				refusing.push(refusalOf(key, reason, missing));
			},
		});
		const read = new Set(lines.map(({ key }) => key));
		const explained = await explainMissing(refusing, {
			...options,
			refused: (key) => (read.has(key) ? undefined : refusals.get(key)),
		});
		const refused = new Map(explained.map((row) => [row.key, row]));
		const reasons: (BadRow | GoodRow)[] = [];
		for (const { key, isDeleted } of lines) {
			const bad = refused.get(key);
			if (bad !== undefined) {
				reasons.push(bad);
				if (refusals.get(key) === undefined)
					refusedFirst[COUNTED[bad.hangsOn ?? "none"]]++;
				if (refusals.add(bad)) touched.addKey(key);
				continue;
			}
			if (refusals.delete(key)) reasons.push({ key, reason: null });
			if (isDeleted) continue;
			for (const waiting of refusals.waitingFor(key)) touched.addKey(waiting);
		}
		badRows.add(reasons);
		sum.rows += lines.filter(({ key }) => !some.isAgain(key)).length;
		sum.made += total(done.objects) + total(done.edges);
		sum.changed += done.changed;
		sum.deleted += done.deleted;
		more.unchanged += done.existing;
		more.newerHere += done.newerHere;
	}

	const isThere = () => until !== undefined && log.has(position, until);
	const take = async (batch: LogBatch) => {
		for (const image of batch.images) touched.add(image);
		if (touched.size > 0) {
			const settle = options.settleMs ?? SETTLE_MS;
			await sleep(settle, undefined, { signal });
			if (batch.position !== null) await log.settle(batch.position);
			const some = touched;
			touched = new TouchedRows(plans);
			await write(some);
		}
		position = batch.position ?? position;
		if (batch.images.length > 0 || performance.now() - savedAt > SETTLE_MS) {
			savedAt = performance.now();
			save();
			await log.confirm(position);
		}
		options.onProgress?.({
			rows: sum.rows,
			lagSeconds: batch.at === null ? 0 : Math.max(0, now() - batch.at) / 1_000,
		});
	};
	try {
		if (!isThere()) {
			for await (const batch of log.read(start, signal)) {
				await take(batch);
				if (isThere() && touched.size === 0) break;
			}
		}
	} catch (thrown) {
		if (!signal.aborted) throw thrown;
	}
	return save();
}

async function* texts(lines: readonly RowLine[]): AsyncGenerator<RawLine> {
	for (const line of lines) yield rawLine(line);
}
