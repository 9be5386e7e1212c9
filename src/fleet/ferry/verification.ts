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
/** For rows that differ, and change all the time. Milliseconds. */
const SETTLE_MS = 10_000;

/** Shows that the rows of a target are those of its source while both change: chunk by chunk once, and each row again that a change touches later. */
export class Verification {
	readonly differences: Difference[] = [];
	readonly #options: CompareOptions;
	readonly #limits: FerryLimits;
	readonly #tables: readonly MovedTable[];
	readonly #touched = new TouchedKeys();
	/** Tables of which a change has to be compared again. */
	readonly #begun = new Set<MovedTable>();
	/** Of this pass over all of them. */
	tables = 0;
	rows = 0;

	constructor(
		options: Omit<CompareOptions, "touched" | "onRows">,
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
		// Rows of chunks that were not the same.
		const until = performance.now() + SETTLE_MS;
		while (performance.now() < until) {
			if (!(await this.#compareQuiet())) return;
		}
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
			this.#options.signal.throwIfAborted();
			const keys = this.#touched.quiet(0, KEYS);
			const left = until - performance.now();
			if (keys.length === 0 || left <= 0) return;
			await this.#compareAgain(keys, left);
		}
	}

	async #compare(table: MovedTable): Promise<void> {
		// From here on changes are noted: those from before are in what is read.
		this.#touched.forget(table);
		this.#begun.add(table);
		await compareTable(this.#options, table);
	}

	/** Whether there were any. */
	async #compareQuiet(): Promise<boolean> {
		const { quietMs, catchUpMs } = this.#limits;
		const keys = this.#touched.quiet(quietMs, KEYS);
		if (keys.length > 0) await this.#compareAgain(keys, catchUpMs);
		return keys.length > 0;
	}

	async #compareAgain(
		keys: Parameters<typeof compareKeys>[1],
		ms: number,
	): Promise<void> {
		const { patiently } = this.#options;
		const different = await patiently(() =>
			compareKeys(this.#options, keys, ms),
		);
		for (const found of different) {
			const isKnown = this.differences.some(
				({ table, key }) => table === found.table && key === found.key,
			);
			if (!isKnown) this.differences.push(found);
		}
	}
}
