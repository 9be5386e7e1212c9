import { setTimeout as sleep } from "node:timers/promises";
import type { Cells } from "../../storage/mysql/binlog/binlogTypes.ts";
import {
	type CompareOptions,
	compareKeys,
	compareTable,
	type Difference,
} from "./compareRows.ts";
import type { FerryLimits } from "./ferryOptions.ts";
import type { MovedTable } from "./movedTables.ts";
import { TouchedKeys } from "./touchedKeys.ts";

/** Keys that are compared again at once. */
const KEYS = 10_000;
/** For the target to have what the source had. Rows are compared later if it takes longer. Milliseconds. */
const CATCH_UP_MS = 5_000;

/** Shows that the rows of a target are those of its source while both change: chunk by chunk once, and each row again that a change touches later. */
export class Verification {
	readonly differences: Difference[] = [];
	readonly #options: CompareOptions;
	readonly #limits: FerryLimits;
	readonly #tables: readonly MovedTable[];
	readonly #touched = new TouchedKeys();
	/** Ends when nobody compares rows again. */
	#turn: Promise<void> = Promise.resolve();
	/** Tables of which a change has to be compared again. */
	readonly #begun = new Set<MovedTable>();
	/** What this pass has compared so far. */
	tables = 0;
	rows = 0;

	constructor(
		options: Omit<CompareOptions, "touched" | "onRows" | "onDifference">,
		tables: readonly MovedTable[],
		limits: FerryLimits,
		onRows: (all: number) => void,
	) {
		this.#tables = tables;
		this.#limits = limits;
		this.#options = {
			...options,
			touched: this.#touched,
			onRows: (rows) => {
				this.rows += rows;
				onRows(this.rows);
			},
			onDifference: (found) => {
				const isKnown = this.differences.some(
					({ table, key }) => table === found.table && key === found.key,
				);
				if (!isKnown) this.differences.push(found);
			},
		};
	}

	get hasBegun(): boolean {
		return this.#begun.size > 0;
	}

	/** Rows that changed since they were compared. */
	get pending(): number {
		return this.#touched.size;
	}

	/** Before the rows of a batch are touched, which is before the target has them. */
	beginChange(): void {
		this.#touched.change++;
	}

	touch(table: MovedTable, cells: Cells): void {
		if (this.#begun.has(table)) this.#touched.touchRow(table, cells);
	}

	async compareAll(
		each: (
			all: readonly MovedTable[],
			body: (table: MovedTable) => Promise<void>,
		) => Promise<void>,
	): Promise<void> {
		this.tables = 0;
		this.rows = 0;
		await each(this.#tables, async (table) => {
			await this.#compare(table);
			this.tables++;
		});
		while (this.#touched.hasSuspects) await this.#compareQuiet();
	}

	/** Compares rows again when they are quiet. Ends with the signal only. */
	async keepUp(): Promise<never> {
		const { quietMs, touchedKeys } = this.#limits;
		const { signal } = this.#options;
		for (;;) {
			await sleep(quietMs / 2, undefined, { signal });
			if (this.#touched.size > touchedKeys) {
				for (const table of this.#tables) await this.#compare(table);
			}
			await this.#compareQuiet();
		}
	}

	/** Until none is left, or the time is over. */
	async compareTouched(ms: number): Promise<void> {
		const until = performance.now() + ms;
		for (;;) {
			const left = until - performance.now();
			if (left <= 0 || !(await this.#compareQuiet(0, left))) return;
		}
	}

	async #compare(table: MovedTable): Promise<void> {
		// From here on changes are noted: those from before are in what is read.
		this.#touched.forget(table);
		this.#begun.add(table);
		await compareTable(this.#options, table);
	}

	/** Whether there were any. One after another: a row that is looked at twice at once is looked at once. */
	async #compareQuiet(
		quietMs = this.#limits.quietMs,
		ms = CATCH_UP_MS,
	): Promise<boolean> {
		const before = this.#turn;
		const { promise, resolve } = Promise.withResolvers<void>();
		this.#turn = promise;
		await before;
		try {
			const { patiently } = this.#options;
			const keys = this.#touched.quiet(quietMs, KEYS);
			if (keys.length === 0) return false;
			await patiently(() => compareKeys(this.#options, keys, ms));
			return true;
		} finally {
			resolve();
		}
	}
}
