import type { Table } from "../storage/statements/tables.ts";
import { besideGraph, keyOf } from "./databases.ts";
import type { LineBatches } from "./lineFiles.ts";
import type { Snapshot, StoredRow } from "./source/dumpSource.ts";

/** Most and fewest rows of one statement, and about how many characters. */
const MOST_ROWS = 2_000;
const LEAST_ROWS = 50;
const CHARACTERS = 2_000_000;

/** All rows of a table that are a part of the graph, some at a time, in the order of its key. */
export async function* rowsOf(
	snapshot: Pick<Snapshot, "rows">,
	table: Table,
	/** Awaited for each of them, before the next ones are read. */
	onRows: (rows: number, characters: number) => Promise<void>,
): AsyncGenerator<readonly StoredRow[]> {
	let after: StoredRow | null = null;
	let limit = MOST_ROWS;
	for (;;) {
		const rows: readonly StoredRow[] = await snapshot.rows(table, after, limit);
		const characters = charactersOf(rows);
		if (rows.length > 0) {
			yield ofGraph(table, rows);
			await onRows(rows.length, characters);
		}
		if (rows.length < limit) return;
		after = rows.at(-1) as StoredRow;
		const fitting = Math.floor((CHARACTERS * rows.length) / characters);
		limit = Math.max(LEAST_ROWS, Math.min(MOST_ROWS, fitting));
	}
}

function ofGraph(
	table: Table,
	rows: readonly StoredRow[],
): readonly StoredRow[] {
	const others = besideGraph(table);
	if (others === null) return rows;
	const at = Object.keys(table.columns).indexOf(others.column);
	return rows.filter((row) => !others.values.includes(row[at] ?? ""));
}

function charactersOf(rows: readonly StoredRow[]): number {
	let characters = 1;
	for (const row of rows) {
		for (const cell of row) characters += cell?.length ?? 0;
	}
	return characters;
}

/** Rows as stored, each as an object of its columns. Whole numbers are texts, because JSON readers round them. */
export async function* storedLines(
	table: Table,
	rows: AsyncIterable<readonly StoredRow[]>,
): LineBatches {
	const columns = Object.keys(table.columns);
	for await (const some of rows) {
		yield some.map((row) => storedLine(columns, row));
	}
}

export function storedLine(columns: readonly string[], row: StoredRow): string {
	return JSON.stringify(
		Object.fromEntries(columns.map((column, at) => [column, row[at] ?? null])),
	);
}

/** The row of a line; null if the line has other columns. */
export function rowIn(table: Table, line: string): StoredRow | null {
	let value: unknown;
	try {
		value = JSON.parse(line);
	} catch {
		return null;
	}
	if (typeof value !== "object" || value === null) return null;
	const cells = value as Readonly<Record<string, unknown>>;
	const row: (string | null)[] = [];
	for (const column of Object.keys(table.columns)) {
		const cell = cells[column];
		const isEmpty = cell === null && table.columns[column] === "error";
		if (typeof cell !== "string" && !isEmpty) return null;
		row.push(cell as string | null);
	}
	return keyOf(table).length > 0 ? row : null;
}
