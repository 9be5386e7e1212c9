import { isDeepStrictEqual } from "node:util";
import type { Store } from "../../graph/store/store.ts";
import type { FieldReaders } from "../../model/fieldReaders.ts";
import type { Pace } from "../../util/pace.ts";
import {
	type ImportOptions,
	type ImportReport,
	importLines,
} from "../import/importLines.ts";
import type { RawLine } from "../import/readBatches.ts";
import type { BadRow, BadRows } from "./badRows.ts";
import { currentEdges, edgeOfRow, type RowEdge } from "./edgeRows.ts";
import { findMissing, type SeenEdges, seeEdge } from "./missing.ts";
import type { RowLine, TablePlan } from "./plan.ts";
import type { Cursor, Source, SourceRow } from "./sources/source.ts";
import type { MigrationState, PassReport } from "./state.ts";

export interface PassOptions {
	readonly plans: readonly TablePlan[];
	/** The names of the types and edges that are read (default: all). */
	readonly only?: readonly string[];
	readonly source: Source;
	readonly fields: FieldReaders;
	/** Only rows that changed since the pass before. */
	readonly isSince: boolean;
	/** Deletes however many rows are gone in the old database. */
	readonly deleteMany: boolean;
	readonly state: MigrationState;
	readonly saveState: (state: MigrationState) => void;
	readonly badRows: BadRows;
	/** How fast rows are read (default: as fast as they are written). */
	readonly pace?: Pace;
	/** What the import that writes is given. */
	readonly writing: Pick<
		ImportOptions,
		"signal" | "onWaiting" | "retryAfterMs" | "onRetry"
	>;
	readonly onProgress?: (progress: PassProgress) => void;
	readonly now?: () => number;
}

export interface PassProgress {
	/** The table that is read. */
	readonly table: string;
	readonly lines: number;
	readonly perSecond: number;
	readonly secondsLeft?: number;
}

/** A row whose line is being written. */
interface Pending {
	readonly key: string;
	/** Where to go on after it; null for lines that delete. */
	readonly at: { readonly table: string; readonly after: Cursor } | null;
}

/** How much earlier a pass with `isSince` begins than the last change that the pass before could see: rows appear in the order of their commits, not of their times. */
export const OVERLAP_MS = 10 * 60_000;

/**
 * One pass over all rows, or over those that changed: makes lines of an import of
 * them, and after a full pass deletes what is gone. Interrupted, it goes on at the
 * row after the last one that was written.
 */
export async function runPass(
	store: Store,
	options: PassOptions,
): Promise<PassReport> {
	const { source, state, badRows, only, now = Date.now } = options;
	const isRead = ({ name }: TablePlan) => only?.includes(name) ?? true;
	const plans = options.plans.filter(isRead);
	const last = state.passes.at(-1);
	const kind = options.isSince ? "since" : "full";
	const resumed =
		last !== undefined &&
		!last.isFinished &&
		last.kind === kind &&
		isDeepStrictEqual(last.only, only)
			? last
			: null;
	const before =
		resumed === null ? [...state.passes] : state.passes.slice(0, -1);
	const position = resumed === null ? null : state.position;
	const began = resumed?.began ?? now();
	const startedAt = performance.now();
	const marks = resumed === null ? await marksOf(plans, source) : state.marks;
	if (resumed === null && kind === "full") {
		badRows.clear(plans.map(({ name }) => name));
	}
	const total = kind === "full" ? await totalOf(plans, source) : null;

	const window = new Map<number, Pending>();
	let made = 0;
	let table = position?.table ?? plans[0]?.name ?? "";
	const linesBefore = position?.lines ?? 0;
	let place = position;
	const base = resumed;
	let done: ImportReport | null = null;
	let removed: ImportReport | null = null;
	let reportedBad: BadRow[] = [];

	const reportOf = (isFinished: boolean): PassReport => {
		const sum = (of: (report: ImportReport) => number) =>
			(done === null ? 0 : of(done)) + (removed === null ? 0 : of(removed));
		return {
			kind,
			...(only !== undefined && { only }),
			began,
			seconds: (base?.seconds ?? 0) + (performance.now() - startedAt) / 1_000,
			rows: done === null ? linesBefore : done.lines,
			made:
				(base?.made ?? 0) +
				sum(({ objects, edges }) => added(objects) + added(edges)),
			changed: (base?.changed ?? 0) + sum(({ changed }) => changed),
			deleted: (base?.deleted ?? 0) + sum(({ deleted }) => deleted),
			unchanged: (base?.unchanged ?? 0) + (done?.existing ?? 0),
			bad: (base?.bad ?? 0) + sum(({ bad }) => bad),
			newerHere: (base?.newerHere ?? 0) + sum(({ newerHere }) => newerHere),
			isFinished,
		};
	};
	const save = (isFinished: boolean): PassReport => {
		badRows.add(reportedBad);
		reportedBad = [];
		const report = reportOf(isFinished);
		options.saveState({
			...state,
			passes: [...before, report],
			position: isFinished ? null : place,
			marks:
				isFinished || kind === "full"
					? { ...state.marks, ...marks }
					: state.marks,
		});
		return report;
	};
	/** What the old database says of edges, where this run has read all of them. */
	const seen = new Map<TablePlan, SeenEdges>();

	const never = new AbortController().signal;
	const pause = async (rows: number) => {
		const signal = options.writing.signal ?? never;
		// Interrupted, it ends with what is written.
		await options.pace?.take(rows, 0, signal).catch((thrown) => {
			if (!signal.aborted) throw thrown;
		});
	};

	async function* lines(): AsyncGenerator<RawLine> {
		const from = plans.findIndex(({ name }) => name === position?.table);
		for (const plan of plans.slice(Math.max(0, from))) {
			table = plan.name;
			const after = plan.name === position?.table ? position.after : undefined;
			const edges: SeenEdges = { made: new Set(), deleted: new Set() };
			if (plan.kind === "edge" && after === undefined) seen.set(plan, edges);
			const mark = plan.changed === null ? undefined : state.marks[plan.name];
			const since =
				kind === "since" && plan.changed !== null && mark !== undefined
					? { column: plan.changed, value: earlier(mark) }
					: undefined;
			const pages = source.scan(plan, {
				...(after !== undefined && { after }),
				...(since !== undefined && { since }),
			});
			for await (const page of pages) {
				await pause(page.length);
				const read =
					kind === "full"
						? linesOf(plan, page)
						: await currentLines(plan, source, page);
				for (const { one, cursor } of read) {
					if (plan.kind === "edge" && kind === "full") {
						seeEdge(edges, one);
						// Another row may make the same edge: what no row makes is deleted at the end.
						if (one.isDeleted) continue;
					}
					made++;
					window.set(linesBefore + made, {
						key: one.key,
						at: { table: plan.name, after: cursor },
					});
					yield "problem" in one.line
						? (one.line as { problem: string })
						: JSON.stringify(one.line);
				}
			}
		}
	}

	const importing = (
		source: AsyncIterable<RawLine>,
		more: Partial<ImportOptions>,
	) =>
		importLines(store, source, {
			fields: options.fields,
			...options.writing,
			onBadLine(line, reason, missing) {
				const key = window.get(line)?.key ?? "";
				reportedBad.push({ key, reason, ...(missing && { missing }) });
			},
			...more,
		});
	done = await importing(lines(), {
		linesBefore,
		onBatch(report) {
			done = report;
			place = {
				...place,
				...(window.get(report.lines)?.at ?? null),
				lines: report.lines,
			} as typeof place;
			for (const line of window.keys()) {
				if (line > report.lines) break;
				window.delete(line);
			}
			save(false);
		},
		onProgress({ lines, perSecond }) {
			const left = total === null ? null : total - lines;
			options.onProgress?.({
				table,
				lines,
				perSecond,
				...(left !== null &&
					left > 0 &&
					perSecond > 0 && { secondsLeft: left / perSecond }),
			});
		},
	});
	if (done.status === "aborted" || kind === "since") {
		return save(done.status === "finished");
	}
	const missing = await findMissing(store, {
		plans: options.plans,
		source,
		seen,
		isRead,
		deleteMany: options.deleteMany,
	});
	if (missing.length > 0) {
		window.clear();
		removed = await importing(textsOf(missing, window), {
			onBatch(report) {
				removed = report;
			},
		});
		if (removed.status === "aborted") return save(false);
	}
	return save(true);
}

interface ReadLine {
	readonly one: RowLine;
	readonly cursor: Cursor;
}

function linesOf(
	plan: TablePlan,
	page: readonly SourceRow[],
): readonly ReadLine[] {
	return page.flatMap(({ row, cursor }) => {
		const one = plan.lineOf(row);
		return one === null ? [] : [{ one, cursor }];
	});
}

/** The same of some rows of a table: an edge whose row is marked as deleted may have another row. */
async function currentLines(
	plan: TablePlan,
	source: Source,
	page: readonly SourceRow[],
): Promise<readonly ReadLine[]> {
	const lines = linesOf(plan, page);
	if (plan.kind === "object") return lines;
	const deleted = new Map<string, RowEdge>();
	for (const { row } of page) {
		if (plan.lineOf(row)?.isDeleted !== true) continue;
		const edge = edgeOfRow(plan, row);
		if (edge !== null) deleted.set(edge.gone.key, edge);
	}
	const current = await currentEdges(plan, source, deleted);
	return lines.map(({ one, cursor }) => ({
		one: current.get(one.key) ?? one,
		cursor,
	}));
}

async function* textsOf(
	missing: readonly { readonly key: string; readonly text: string }[],
	window: Map<number, Pending>,
): AsyncGenerator<RawLine> {
	for (const [at, { key, text }] of missing.entries()) {
		window.set(at + 1, { key, at: null });
		yield text;
	}
}

function added(counts: Readonly<Record<string, number>>): number {
	return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

async function marksOf(
	plans: readonly TablePlan[],
	source: Source,
): Promise<Readonly<Record<string, string>>> {
	const marks: Record<string, string> = {};
	for (const plan of plans) {
		if (plan.changed === null) continue;
		const mark = await source.greatest(plan, plan.changed);
		if (mark !== null) marks[plan.name] = mark;
	}
	return marks;
}

async function totalOf(
	plans: readonly TablePlan[],
	source: Source,
): Promise<number | null> {
	let total = 0;
	for (const plan of plans) {
		const rows = await source.estimate(plan);
		if (rows === null) return null;
		total += rows;
	}
	return total;
}

/** A time without a zone, some minutes before: in the terms of the column itself, whatever its zone. A number stays as it is. */
function earlier(mark: string): string {
	const time = Date.parse(
		`${mark.replace(" ", "T").replace(/[+-]\d\d(:?\d\d)?$|Z$/, "")}Z`,
	);
	if (Number.isNaN(time)) return mark;
	return new Date(time - OVERLAP_MS)
		.toISOString()
		.replace("T", " ")
		.replace("Z", "");
}
