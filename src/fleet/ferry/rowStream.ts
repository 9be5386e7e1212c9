import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import type {
	BinlogTransaction,
	Cells,
} from "../../storage/mysql/binlog/binlogTypes.ts";
import { GtidSet } from "../../storage/mysql/driver/gtidSet.ts";
import type { FleetServer } from "../server/fleetServer.ts";
import type { FerryState } from "./ferryState.ts";
import type { MovedTable } from "./movedTables.ts";
import type { Patiently } from "./patience.ts";
import { deleteRows, type Key, keyOf, replaceRows } from "./rowSql.ts";

interface RowStreamOptions {
	readonly source: FleetServer;
	readonly state: FerryState;
	readonly tables: readonly MovedTable[];
	/** The database on the target. */
	readonly databaseOf: (table: MovedTable) => string;
	readonly applied: string;
	/** Called with each row before it is changed on the target. */
	readonly touch: (table: MovedTable, cells: Cells) => void;
	/** Called before the rows of a batch are touched. */
	readonly begin: () => void;
	readonly signal: AbortSignal;
	readonly patiently: Patiently;
}

/** Rows of one transaction on the target. */
const BATCH_ROWS = 5_000;
/** Changes are gathered for so long, unless somebody waits for them. Milliseconds. */
const GATHER_MS = 20;
/** The position is written down so often where nothing else is written. Milliseconds. */
const POSITION_MS = 1_000;

interface Waiting {
	readonly wanted: GtidSet;
	readonly resolve: (isThere: boolean) => void;
	readonly reject: (thrown: unknown) => void;
}

/** The last image of each changed row, by what makes it the same row; null: it is gone. */
type Changes = Map<MovedTable, Map<string, { key: Key; row: Cells | null }>>;

/**
 * Applies to the target what the source's binary log says of its rows, in the
 * order of the log. A row is written as it is after its last change, whatever the
 * target has of it, so that to apply a part of the log twice does no harm; the
 * position is written with the rows.
 */
export class RowStream {
	readonly #options: RowStreamOptions;
	readonly #applied: GtidSet;
	readonly #waiting = new Set<Waiting>();
	#hurry: (() => void) | null = null;
	#writtenAt = performance.now();
	transactions = 0;
	rows = 0;

	constructor(options: RowStreamOptions) {
		this.#options = options;
		this.#applied = new GtidSet(options.applied);
	}

	get applied(): string {
		return this.#applied.toString();
	}

	/** Ends with the signal only. Throws if the stream cannot go on. */
	async run(): Promise<never> {
		const { source, tables, signal } = this.#options;
		try {
			const log = source.readBinlog({
				after: this.applied,
				tables,
				signal,
				hasAll: true,
			});
			for await (const transactions of log) {
				await this.#apply(transactions);
				await this.#gather();
			}
			throw new CorkboardError("INTERNAL", "A binary log has no end.");
		} catch (thrown) {
			for (const { reject } of this.#waiting) reject(thrown);
			this.#waiting.clear();
			throw thrown;
		}
	}

	/** Waits so long for the target to have all of a set. Returns whether it has. */
	async caughtUp(gtids: string, ms: number): Promise<boolean> {
		const wanted = new GtidSet(gtids);
		if (this.#applied.contains(wanted)) return true;
		const { promise, resolve, reject } = Promise.withResolvers<boolean>();
		const waiting = { wanted, resolve, reject };
		this.#waiting.add(waiting);
		this.#hurry?.();
		const timer = setTimeout(() => resolve(false), ms);
		try {
			return await promise;
		} finally {
			clearTimeout(timer);
			this.#waiting.delete(waiting);
		}
	}

	/** Waits a little, so that a row which changes again is written once. */
	async #gather(): Promise<void> {
		if (this.#waiting.size > 0) return;
		const hurry = new AbortController();
		this.#hurry = () => hurry.abort();
		await sleep(GATHER_MS, undefined, { signal: hurry.signal }).catch(() => {});
		this.#hurry = null;
	}

	async #apply(
		transactions: readonly BinlogTransaction<MovedTable>[],
	): Promise<void> {
		let some: BinlogTransaction<MovedTable>[] = [];
		let rows = 0;
		for (const [at, transaction] of transactions.entries()) {
			some.push(transaction);
			rows += transaction.rows.length;
			if (rows < BATCH_ROWS && at < transactions.length - 1) continue;
			await this.#applyBatch(some, rows);
			some = [];
			rows = 0;
		}
	}

	async #applyBatch(
		transactions: readonly BinlogTransaction<MovedTable>[],
		rows: number,
	): Promise<void> {
		const { state, patiently } = this.#options;
		const complete = transactions.filter(({ isComplete }) => isComplete);
		const next = new GtidSet(this.applied);
		for (const { gtid } of complete) next.add(gtid);
		const isDue = performance.now() - this.#writtenAt > POSITION_MS;
		if (rows > 0 || isDue) {
			const statements = this.#statementsOf(this.#coalesce(transactions));
			await patiently(() => state.writeChanges(statements, next.toString()));
			this.#writtenAt = performance.now();
		}
		for (const { gtid } of complete) this.#applied.add(gtid);
		this.transactions += complete.length;
		this.rows += rows;
		for (const waiting of this.#waiting) {
			if (this.#applied.contains(waiting.wanted)) waiting.resolve(true);
		}
	}

	#coalesce(transactions: readonly BinlogTransaction<MovedTable>[]): Changes {
		const { touch, begin } = this.#options;
		const changes: Changes = new Map();
		begin();
		const set = (table: MovedTable, key: Key, row: Cells | null) => {
			const own = changes.get(table) ?? new Map();
			changes.set(table, own);
			own.set(key.join(), { key, row });
		};
		for (const { rows } of transactions) {
			for (const { table, before, after } of rows) {
				// An update may have made it another row.
				for (const cells of [before, after]) {
					if (cells === null) continue;
					touch(table, cells);
					const isGone = cells === before;
					set(
						table,
						keyOf(cells, table, table.identity),
						isGone ? null : cells,
					);
				}
			}
		}
		return changes;
	}

	/** What is gone first: a row may have taken the place of another in a unique key. */
	#statementsOf(changes: Changes): readonly string[] {
		const { databaseOf } = this.#options;
		const statements: string[] = [];
		for (const [table, rows] of changes) {
			const all = [...rows.values()];
			const gone = all.flatMap(({ key, row }) => (row === null ? [key] : []));
			const present = all.flatMap(({ row }) => (row === null ? [] : [row]));
			const database = databaseOf(table);
			statements.push(
				...deleteRows(database, table, gone),
				...replaceRows(database, table, present),
			);
		}
		return statements;
	}
}
