import type { Cells } from "../../storage/mysql/binlog/binlogTypes.ts";
import type { Pace } from "../../util/pace.ts";
import type { FleetServer } from "../server/fleetServer.ts";
import type { CopyState, FerryState } from "./ferryState.ts";
import type { MovedTable } from "./movedTables.ts";
import type { Patiently } from "./patience.ts";
import {
	cellsOf,
	isBetween,
	type Key,
	keyOf,
	listOf,
	replaceRows,
	tableIn,
} from "./rowSql.ts";

interface CopyOptions {
	/** Which is read: it has all that is not followed afterwards. */
	readonly reader: FleetServer;
	readonly state: FerryState;
	/** The database on the target. */
	readonly database: string;
	readonly table: MovedTable;
	readonly from: CopyState;
	readonly pace: Pace;
	readonly patiently: Patiently;
	readonly signal: AbortSignal;
	readonly onRows: (rows: number) => void;
}

/** Most and fewest rows of one statement. */
const MOST_ROWS = 2_000;
const LEAST_ROWS = 20;
const BYTES = 2_000_000;

/**
 * Copies a table in the order of its primary key, from where a runner before came
 * to. Each statement reads it as it is then: a row that changes meanwhile may come
 * as it was, twice, or not at all, and is made right by the row stream, which begins
 * before the first row was read.
 */
export async function copyTable(options: CopyOptions): Promise<void> {
	const { state, database, table, from, pace, signal, onRows } = options;
	const { patiently } = options;
	let copied = from.rows;
	let limit = MOST_ROWS;
	let reading = read(options, from.after, limit);
	for (;;) {
		const rows = await reading;
		const bytes = bytesOf(rows);
		await pace.take(rows.length, bytes, signal);
		const last = rows.at(-1);
		const after = last === undefined ? null : keyOf(last, table, table.order);
		const isCopied = rows.length < limit || after === null;
		if (!isCopied) {
			limit = limitFor(bytes / rows.length);
			reading = read(options, after, limit);
			// It is waited for after the write, which may fail first.
			reading.catch(() => {});
		}
		copied += rows.length;
		const statements = replaceRows(database, table, rows);
		const done = { after, rows: copied, isCopied };
		await patiently(() => state.writeChunk(statements, database, table, done));
		onRows(rows.length);
		if (isCopied) return;
	}
}

async function read(
	{ reader, table, patiently }: CopyOptions,
	after: Key | null,
	limit: number,
): Promise<readonly Cells[]> {
	const { columns, order, database } = table;
	const rows = await patiently(() =>
		reader.rows(
			"copy",
			`SELECT ${listOf(columns)} FROM ${tableIn(database, table)} FORCE INDEX (PRIMARY)
				WHERE ${isBetween(order, after, null)} ORDER BY ${listOf(order)} LIMIT ${limit}`,
		),
	);
	return rows.map((row) => cellsOf(row, columns));
}

function bytesOf(rows: readonly Cells[]): number {
	let bytes = 0;
	for (const cells of rows) {
		for (const cell of cells) bytes += cell?.length ?? 0;
	}
	return bytes;
}

function limitFor(averageBytes: number): number {
	const fitting = Math.floor(BYTES / Math.max(1, averageBytes));
	return Math.max(LEAST_ROWS, Math.min(MOST_ROWS, fitting));
}
