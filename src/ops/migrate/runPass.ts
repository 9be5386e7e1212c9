import type { Store } from "../../graph/store/store.ts";
import type { FieldReaders } from "../../model/fieldReaders.ts";
import type { Pace } from "../../util/pace.ts";
import { type ImportOptions, importLines } from "../import/importLines.ts";
import type { RawLine } from "../import/readBatches.ts";
import type { BadRows } from "./badRows.ts";
import { nameOfKey } from "./keys.ts";
import { findMissing } from "./missing.ts";
import { PassLedger, unfinishedPass } from "./passLedger.ts";
import { rawLine, type TablePlan } from "./plan.ts";
import { readTables, type SeenByPlan } from "./readTables.ts";
import type { Source } from "./sources/source.ts";
import type { MigrationState, PassReport } from "./state.ts";
import { explainMissing } from "./whyMissing.ts";

export interface PassOptions {
	readonly plans: readonly TablePlan[];
	/** The names of the types and edges that are read (default: all). */
	readonly only?: readonly string[];
	readonly source: Source;
	readonly fields: FieldReaders;
	/** Only rows that changed since the pass before. */
	readonly onlyChanged: boolean;
	/** Deletes however many rows are gone in the old database. */
	readonly deleteMany: boolean;
	/** Brings back what is deleted here and not there. */
	readonly revives?: boolean;
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

interface PassProgress {
	/** The table that is read. */
	readonly table: string;
	readonly lines: number;
	readonly perSecond: number;
	readonly secondsLeft?: number;
}

/**
 * One pass over all rows, or over those that changed: makes lines of an import of
 * them, and after a full pass deletes what is gone. Interrupted, it continues at the
 * row after the last one that was written.
 */
export async function runPass(
	store: Store,
	options: PassOptions,
): Promise<PassReport> {
	const { source, state, badRows, only, now = Date.now } = options;
	const isRead = ({ name }: TablePlan) => only?.includes(name) ?? true;
	const plans = options.plans.filter(isRead);
	const kind = options.onlyChanged ? "changed" : "full";
	const resumed = unfinishedPass(state, { kind, only });
	const marks = resumed === null ? await marksOf(plans, source) : state.marks;
	const ledger = new PassLedger({
		...options,
		kind,
		only,
		resumed,
		marks,
		now,
	});
	if (resumed === null && kind === "full") badRows.begin();
	const linesBefore = ledger.position?.lines ?? 0;
	const total = kind === "full" ? await totalOf(plans, source) : null;
	const seen: SeenByPlan = new Map();
	let table = ledger.position?.table ?? plans[0]?.name ?? "";

	const rows = async function* (): AsyncGenerator<readonly RawLine[]> {
		const read = readTables({
			...options,
			plans,
			kind,
			position: ledger.position,
			seen,
			signal: options.writing.signal,
		});
		for await (const page of read) {
			table = page[0]?.plan.name ?? table;
			yield page.map(({ one, cursor, plan }) => {
				ledger.expect(one.key, { table: plan.name, after: cursor });
				return rawLine(one);
			});
		}
	};
	const importing = (
		lines: AsyncIterable<readonly RawLine[]>,
		more: Partial<ImportOptions>,
	) =>
		importLines(store, lines, {
			fields: options.fields,
			movesEdges: true,
			revives: options.revives ?? false,
			...options.writing,
			onBadLine: (line, reason, missing) =>
				ledger.refuse(line, reason, missing),
			...more,
		});

	const written = await importing(rows(), {
		linesBefore,
		onBatch(report) {
			ledger.wrote(report);
			ledger.save(false);
		},
		onProgress: ({ lines, perSecond }) =>
			options.onProgress?.({
				table,
				lines,
				perSecond,
				...secondsLeft(total, lines, perSecond),
			}),
	});
	ledger.wrote(written);
	if (written.status === "aborted") return ledger.save(false);
	const names = plans.map(({ name }) => name);
	const explain = async () => {
		const bad = new Map(badRows.read().map((row) => [row.key, row]));
		const own = [...bad.values()].filter(({ key }) =>
			names.includes(nameOfKey(key)),
		);
		const refused = (key: string) => bad.get(key);
		const explained = await explainMissing(own, { ...options, refused });
		ledger.explained(explained);
	};
	if (kind === "changed") {
		ledger.save(false);
		await explain();
		return ledger.save(true);
	}

	const missing = await findMissing(store, {
		plans: options.plans,
		source,
		seen,
		isRead,
		deleteMany: options.deleteMany,
		signal: options.writing.signal,
	});
	if (missing === null) return ledger.save(false);
	if (missing.length > 0) {
		ledger.startOver();
		const removed = await importing(textsOf(missing, ledger), {
			onBatch: (report) => ledger.removed(report),
		});
		ledger.removed(removed);
		if (removed.status === "aborted") return ledger.save(false);
	}
	ledger.save(false);
	// Before the pass counts as ended: nobody would end it after a kill between the two.
	badRows.end(names);
	await explain();
	return ledger.save(true);
}

function secondsLeft(
	total: number | null,
	lines: number,
	perSecond: number,
): { readonly secondsLeft?: number } {
	const left = total === null ? 0 : total - lines;
	return left > 0 && perSecond > 0 ? { secondsLeft: left / perSecond } : {};
}

async function* textsOf(
	missing: readonly { readonly key: string; readonly text: string }[],
	ledger: PassLedger,
): AsyncGenerator<readonly RawLine[]> {
	for (const { key } of missing) ledger.expect(key, null);
	yield missing.map(({ text }) => text);
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
