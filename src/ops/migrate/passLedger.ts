import { isDeepStrictEqual } from "node:util";
import type { ImportReport } from "../import/importLines.ts";
import type { Missing } from "../import/lineReader.ts";
import type { BadRow, BadRows, HangsOn } from "./badRows.ts";
import type { Cursor } from "./sources/source.ts";
import type { MigrationState, PassReport } from "./state.ts";
import { refusalOf } from "./whyMissing.ts";

interface LedgerOptions {
	readonly kind: "full" | "changed";
	/** The names of the types and edges that are read (default: all). */
	readonly only?: readonly string[] | undefined;
	/** See `unfinishedPass`. */
	readonly resumed: PassReport | null;
	readonly state: MigrationState;
	readonly saveState: (state: MigrationState) => void;
	readonly badRows: BadRows;
	/** By table: the greatest value of its `changed` when the pass began. */
	readonly marks: MigrationState["marks"];
	readonly now: () => number;
}

/** A row whose line is being written. */
interface Pending {
	readonly key: string;
	/** Where to continue after it; null for lines that delete. */
	readonly at: Place | null;
}

interface Place {
	readonly table: string;
	readonly after: Cursor;
}

/** The last pass, if it has not ended and was one of the same kind: it continues. */
export function unfinishedPass(
	{ passes }: MigrationState,
	{ kind, only }: Pick<LedgerOptions, "kind" | "only">,
): PassReport | null {
	const last = passes.at(-1);
	return last !== undefined &&
		!last.isFinished &&
		last.kind === kind &&
		isDeepStrictEqual(last.only, only)
		? last
		: null;
}

/**
 * What a pass has done, and how far it is. It is saved after each batch, so that a
 * pass that dies continues at the row after the last one that was written.
 */
export class PassLedger {
	readonly #options: LedgerOptions;
	readonly #startedAt = performance.now();
	readonly #began: number;
	/** By the number of its line in the import. */
	readonly #pending = new Map<number, Pending>();
	/** The number of the line that was read last. */
	#line: number;
	#position: MigrationState["position"];
	#refused: BadRow[] = [];
	/** The keys of all rows that this run refused. */
	readonly #keys = new Set<string>();
	#hanging = { withDeleted: 0, withRefused: 0 };
	/** What this run has written of the rows, and of those that are gone. */
	#written: ImportReport | null = null;
	#removed: ImportReport | null = null;

	constructor(options: LedgerOptions) {
		this.#options = options;
		const { resumed, state, now } = options;
		this.#began = resumed?.began ?? now();
		this.#position = resumed === null ? null : state.position;
		this.#line = this.#position?.lines ?? 0;
	}

	/** Where reading continues, and how many lines were written before; null: at the first row. */
	get position(): MigrationState["position"] {
		return this.#position;
	}

	/** The next line is that of this row. */
	expect(key: string, at: Place | null): void {
		this.#pending.set(++this.#line, { key, at });
	}

	/** The lines that follow are of another import. */
	startOver(): void {
		this.#pending.clear();
		this.#line = 0;
	}

	refuse(line: number, reason: string, missing?: Missing): void {
		const key = this.#pending.get(line)?.key ?? "";
		this.#keys.add(key);
		this.#refused.push(refusalOf(key, reason, missing));
	}

	/** Why the rows are bad that the tables of the pass have. */
	explained(rows: readonly BadRow[]): void {
		const { kind, badRows } = this.#options;
		// After a full pass no others are bad.
		const isOfPass = ({ key }: BadRow) =>
			kind === "full" || this.#keys.has(key);
		this.#hanging = hangingOf(rows.filter(isOfPass));
		badRows.add(rows.filter(({ missing }) => missing !== undefined));
	}

	/** What the import of rows has written so far. */
	wrote(report: ImportReport): void {
		this.#written = report;
		const at = this.#pending.get(report.lines)?.at ?? this.#position;
		if (at !== null) {
			const { table, after } = at;
			this.#position = { table, after, lines: report.lines };
		}
		for (const line of this.#pending.keys()) {
			if (line > report.lines) break;
			this.#pending.delete(line);
		}
	}

	/** What the import of rows that are gone has written so far. */
	removed(report: ImportReport): void {
		this.#removed = report;
	}

	save(isFinished: boolean): PassReport {
		const { kind, resumed, state, saveState, badRows, marks } = this.#options;
		badRows.add(this.#refused);
		this.#refused = [];
		const report = this.#report(isFinished);
		saveState({
			...state,
			passes: [
				...(resumed === null ? state.passes : state.passes.slice(0, -1)),
				report,
			],
			position: isFinished ? null : this.#position,
			marks:
				isFinished || kind === "full"
					? { ...state.marks, ...marks }
					: state.marks,
		});
		return report;
	}

	#report(isFinished: boolean): PassReport {
		const { kind, only, resumed } = this.#options;
		const [written, removed] = [this.#written, this.#removed];
		const { withDeleted, withRefused } = this.#hanging;
		const sum = (of: (report: ImportReport) => number) =>
			(written === null ? 0 : of(written)) +
			(removed === null ? 0 : of(removed));
		return {
			kind,
			...(only !== undefined && { only }),
			began: this.#began,
			seconds:
				(resumed?.seconds ?? 0) + (performance.now() - this.#startedAt) / 1_000,
			rows: written?.lines ?? this.#position?.lines ?? 0,
			made:
				(resumed?.made ?? 0) +
				sum(({ objects, edges }) => total(objects) + total(edges)),
			changed: (resumed?.changed ?? 0) + sum(({ changed }) => changed),
			deleted: (resumed?.deleted ?? 0) + sum(({ deleted }) => deleted),
			unchanged: (resumed?.unchanged ?? 0) + (written?.existing ?? 0),
			bad:
				(resumed?.bad ?? 0) + sum(({ bad }) => bad) - withDeleted - withRefused,
			withDeleted,
			withRefused,
			newerHere: (resumed?.newerHere ?? 0) + sum(({ newerHere }) => newerHere),
			isFinished,
		};
	}
}

/** How many rows are bad because they belong to others. */
function hangingOf(rows: readonly BadRow[]) {
	const count = (wanted: HangsOn) =>
		rows.filter(({ hangsOn }) => hangsOn === wanted).length;
	return { withDeleted: count("deleted"), withRefused: count("refused") };
}

/** All that a report counts by type or by edge. */
export function total(counts: Readonly<Record<string, number>>): number {
	return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
