import type { Pace } from "../../util/pace.ts";
import { currentEdges, edgeOfRow, type RowEdge } from "./edgeRows.ts";
import { type SeenRows, see } from "./missing.ts";
import type { RowLine, TablePlan } from "./plan.ts";
import type { Cursor, Source, SourceRow } from "./sources/source.ts";
import type { MigrationState } from "./state.ts";

/** What the old database says of the tables that this run reads from their first row to their last. */
export type SeenByPlan = Map<TablePlan, SeenRows>;

/** How much earlier a pass with `onlyChanged` begins than the last change that the pass before could see: rows appear in the order of their commits, not of their times. */
const OVERLAP_MS = 10 * 60_000;

export interface Reading {
	readonly plans: readonly TablePlan[];
	readonly source: Source;
	readonly kind: "full" | "changed";
	readonly state: MigrationState;
	/** Where to begin (null: at the first row). */
	readonly position: MigrationState["position"];
	/** Is filled. */
	readonly seen: SeenByPlan;
	readonly pace?: Pace;
	/** Interrupts it. */
	readonly signal?: AbortSignal | undefined;
}

interface ReadRow extends ReadLine {
	readonly plan: TablePlan;
}

/** The lines of all rows, in the order in which they are written, in pages. */
export async function* readTables(
	reading: Reading,
): AsyncGenerator<readonly ReadRow[]> {
	const { plans, source, kind, state, position, seen } = reading;
	const from = plans.findIndex(({ name }) => name === position?.table);
	for (const plan of plans.slice(Math.max(0, from))) {
		const after = plan.name === position?.table ? position.after : undefined;
		const own: SeenRows = { made: new Set(), deleted: new Set() };
		/** The edges whose rows could not be read so far. */
		const unread = new Set<string>();
		if (kind === "full" && after === undefined) seen.set(plan, own);
		const mark = plan.changed === null ? undefined : state.marks[plan.name];
		const since =
			kind === "changed" && plan.changed !== null && mark !== undefined
				? { column: plan.changed, value: earlier(mark) }
				: undefined;
		const pages = source.scan(plan, {
			...(after !== undefined && { after }),
			...(since !== undefined && { since }),
		});
		for await (const page of pages) {
			await pause(page.length, reading);
			const read =
				kind === "full"
					? linesOf(plan, page)
					: await currentLines(plan, source, page);
			const rows: ReadRow[] = [];
			for (const { one, cursor } of read) {
				if (kind === "full") {
					const isFirst = !own.made.has(one.key) || unread.has(one.key);
					see(own, one);
					if ("problem" in one.line) unread.add(one.key);
					else unread.delete(one.key);
					// Another row may make the same edge: the first one says its time, and what no row makes is deleted at the end.
					if (plan.kind === "edge" && (one.isDeleted || !isFirst)) continue;
				}
				rows.push({ one, cursor, plan });
			}
			yield rows;
		}
	}
}

/** Waits until so many rows may be read. Interrupted, the pass ends with what is written. */
async function pause(
	rows: number,
	{ pace, signal = new AbortController().signal }: Reading,
): Promise<void> {
	await pace?.take(rows, 0, signal).catch((thrown) => {
		if (!signal.aborted) throw thrown;
	});
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

/** The same of some rows of a table: other rows may say something of their edges too. */
async function currentLines(
	plan: TablePlan,
	source: Source,
	page: readonly SourceRow[],
): Promise<readonly ReadLine[]> {
	const lines = linesOf(plan, page);
	if (plan.kind === "object") return lines;
	const edges = new Map<string, RowEdge>();
	for (const { row } of page) {
		const edge = edgeOfRow(plan, row);
		if (edge !== null) edges.set(edge.gone.key, edge);
	}
	const current = await currentEdges(plan, source, edges);
	return lines.map(({ one, cursor }) => ({
		one: current.get(one.key) ?? one,
		cursor,
	}));
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
