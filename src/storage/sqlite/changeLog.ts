import { randomUUID } from "node:crypto";
import type { Model } from "../../model/types.ts";
import { PRESENT } from "../rows.ts";
import { quoted } from "./ddl.ts";
import type { Sql, SqliteConnection } from "./driver/sqliteConnection.ts";

/**
 * The log of changes of a shard's file, which `changes enable` switches on: SQLite
 * has none that can be read. Triggers add a row for each row that is written, in
 * the transaction that writes it, so that no process can write past it. Rows have
 * numbers without a gap, in the order of commits, as a file has one writer at a
 * time. The oldest rows are deleted as new ones come, so the log is bounded
 * whether anybody reads it or not.
 *
 * Names with a space are no names of a model.
 */
const LOG = '"change log"';
/** The random id of the log, by which positions name it, and how many rows it keeps. */
const STATE = '"change log state"';
const TRIGGER = "change log ";
/** How often old rows are deleted, in new rows. */
const PRUNED_EACH = 256;
const NOW = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";
/** Rows of a log that are read together to be rewritten. */
const REWRITTEN_ROWS = 1_000;
/** The first row belongs to no table, so that a log always has a last number. */
const BEGUN = "";

interface LogState {
	/** As a UUID. */
	readonly id: string;
	/** The number of the oldest row that it still has. */
	readonly first: number;
	/** That of the newest, from 1 on. */
	readonly last: number;
}

/** A row that was written: the texts have the cells that `loggedCells` reads. */
export interface LoggedRow {
	readonly number: number;
	/** When it was written. Milliseconds since 1970. */
	readonly at: number;
	/** Empty: of no table. */
	readonly name: string;
	/** Null: it was inserted. */
	readonly before: string | null;
	/** Null: it was deleted. */
	readonly after: string | null;
}

/** Null: the file keeps no log. Within one transaction, as a dump has it, the log has what the tables have. */
export function logState(connection: SqliteConnection): LogState | null {
	if (!keepsLog(connection)) return null;
	const [state] = connection.rows<LogState>(
		{
			name: "change log state",
			text: `SELECT id, (SELECT MIN(number) FROM ${LOG}) AS first,
				(SELECT MAX(number) FROM ${LOG}) AS last FROM ${STATE}`,
		},
		[],
	);
	return state === undefined ? null : { ...state };
}

/** What the log has, as a set of GTIDs: its id stands for a server, the numbers of rows for transactions. Null: the file keeps none. */
export function loggedSet(connection: SqliteConnection): string | null {
	const state = logState(connection);
	return state === null ? null : `${state.id}:1-${state.last}`;
}

/** The rows behind a number, oldest first. */
export function readLog(
	connection: SqliteConnection,
	after: number,
	limit: number,
): readonly LoggedRow[] {
	return connection.rows<LoggedRow>(
		{
			name: "read change log",
			text: `SELECT number, at, name, before, after FROM ${LOG}
				WHERE number > ? ORDER BY number LIMIT ?`,
		},
		[after, limit],
	);
}

/** The cells of a logged row, in the order of the table's columns: `local_id, data`, or those of an edge. */
export function loggedCells(
	text: string | null,
	isObject: boolean,
): readonly string[] | null {
	if (text === null) return null;
	if (!isObject) return text.split(" ");
	const end = text.indexOf(" ");
	return [text.slice(0, end), text.slice(end + 1)];
}

/**
 * Rewrites what the log has of some objects, in the transaction that is open. What
 * happened to an object, and in which order, stays: rows are neither added nor deleted.
 */
export function rewriteLog(
	connection: SqliteConnection,
	model: Model,
	/** By what the object has now. */
	isRewritten: (data: string) => boolean,
	rewrite: (data: string) => string,
): void {
	const state = logState(connection);
	if (state === null) return;
	const tables = new Set([...model.objects.values()].map(({ table }) => table));
	const rewritten = (text: string | null) => {
		const [local, data] = loggedCells(text, true) ?? [];
		return data === undefined ? null : `${local} ${rewrite(data)}`;
	};
	let rows: readonly LoggedRow[];
	let at = state.first - 1;
	do {
		rows = readLog(connection, at, REWRITTEN_ROWS);
		for (const { number, name, before, after } of rows) {
			at = number;
			if (!tables.has(name)) continue;
			const [local = ""] = loggedCells(after ?? before, true) ?? [];
			const [current] = connection.rows<{ readonly data: string }>(
				{
					name: `objects ${name}`,
					text: `SELECT data FROM ${quoted(name)} WHERE local_id = ?`,
				},
				[Number(local)],
			);
			if (current === undefined || !isRewritten(current.data)) continue;
			connection.run(
				{
					name: "rewrite change log",
					text: `UPDATE ${LOG} SET before = ?, after = ? WHERE number = ?`,
				},
				[rewritten(before), rewritten(after), number],
			);
		}
	} while (rows.length === REWRITTEN_ROWS);
}

/** How many rows a log keeps if nobody says: some 30 MB. */
export const KEPT_ROWS = 100_000;

/**
 * Switches the log of a file on, in the transaction that is open. Returns how many
 * rows it keeps. Null: as many as before, or as the default says.
 */
export function enableLog(
	connection: SqliteConnection,
	model: Model,
	wanted: number | null,
): number {
	const kept = keptRows(connection);
	const keep = wanted ?? kept ?? KEPT_ROWS;
	if (kept !== null) {
		connection.run(
			{ name: "set change log", text: `UPDATE ${STATE} SET keep = ?` },
			[keep],
		);
	} else {
		for (const text of [
			`CREATE TABLE ${LOG} (
				number INTEGER PRIMARY KEY AUTOINCREMENT,
				at INTEGER NOT NULL,
				name TEXT NOT NULL,
				before TEXT,
				after TEXT
			) STRICT`,
			`CREATE TABLE ${STATE} (id TEXT NOT NULL, keep INTEGER NOT NULL) STRICT`,
			`INSERT INTO ${LOG} (at, name) VALUES (${NOW}, '${BEGUN}')`,
		]) {
			connection.run({ name: "create change log", text });
		}
		connection.run(
			{ name: "create change log", text: `INSERT INTO ${STATE} VALUES (?, ?)` },
			[randomUUID(), keep],
		);
	}
	addTriggers(connection, model);
	return keep;
}

/** Null: the file keeps no log. */
function keptRows(connection: SqliteConnection): number | null {
	if (!keepsLog(connection)) return null;
	const [state] = connection.rows<{ readonly keep: number }>(
		{ name: "kept rows", text: `SELECT keep FROM ${STATE}` },
		[],
	);
	return state?.keep ?? null;
}

/** Deletes the log of a file, in the transaction that is open. False: it had none. */
export function disableLog(connection: SqliteConnection): boolean {
	if (!keepsLog(connection)) return false;
	for (const name of triggersIn(connection).keys()) {
		connection.run(dropTrigger(name));
	}
	for (const table of [LOG, STATE]) {
		connection.run({
			name: "drop change log",
			text: `DROP TABLE ${table}`,
		});
	}
	return true;
}

/** Adds the triggers that a log lacks, as those of tables that are new, and replaces those that are not as this program makes them. */
export function addTriggers(connection: SqliteConnection, model: Model): void {
	if (!keepsLog(connection)) return;
	const existing = triggersIn(connection);
	const tables = tablesIn(connection);
	for (const [name, text, table] of triggersOf(model)) {
		// A call that makes a missing table adds its triggers.
		if (existing.get(name) === text || !tables.has(table)) continue;
		if (existing.has(name)) connection.run(dropTrigger(name));
		connection.run({ name: "create trigger", text });
	}
}

/**
 * Gives the log another id if it has rows of a table that is made again: the table
 * was lost with all its rows, and nobody deleted these, so a copy still has them.
 */
export function renewLog(
	connection: SqliteConnection,
	made: readonly { readonly name: string }[],
): void {
	if (made.length === 0 || !keepsLog(connection)) return;
	const isLost = ({ name }: { readonly name: string }) =>
		connection.rows(
			{
				name: "find logged table",
				text: `SELECT 1 FROM ${LOG} WHERE name = ? LIMIT 1`,
			},
			[name],
		).length > 0;
	if (!made.some(isLost)) return;
	connection.run(
		{ name: "renew change log", text: `UPDATE ${STATE} SET id = ?` },
		[randomUUID()],
	);
}

/** The tables whose rows do not all come into the log, as after somebody made one anew by hand. */
export function unloggedTables(
	connection: SqliteConnection,
	model: Model,
): readonly string[] {
	const existing = triggersIn(connection);
	const tables = tablesIn(connection);
	const lacking = [...triggersOf(model)].filter(
		([name, , table]) => tables.has(table) && !existing.has(name),
	);
	return [...new Set(lacking.map(([, , table]) => table))];
}

function keepsLog(connection: SqliteConnection): boolean {
	const found = connection.rows(
		{
			name: "change log",
			text: "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'change log state'",
		},
		[],
	);
	return found.length > 0;
}

function tablesIn(connection: SqliteConnection): ReadonlySet<string> {
	const rows = connection.rows<{ readonly name: string }>(
		{
			name: "tables",
			text: "SELECT name FROM sqlite_master WHERE type = 'table'",
		},
		[],
	);
	return new Set(rows.map(({ name }) => name));
}

function triggersIn(connection: SqliteConnection): ReadonlyMap<string, string> {
	const rows = connection.rows<{ readonly name: string; readonly sql: string }>(
		{
			name: "triggers",
			text: `SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE '${TRIGGER}%'`,
		},
		[],
	);
	return new Map(rows.map(({ name, sql }) => [name, sql]));
}

function dropTrigger(name: string): Sql {
	return { name: "drop trigger", text: `DROP TRIGGER ${quoted(name)}` };
}

type Trigger = readonly [name: string, text: string, table: string];

function* triggersOf(model: Model): Generator<Trigger> {
	for (const { table } of model.objects.values()) {
		yield* triggersOn(table, {
			text: (row) => `${row}.local_id || ' ' || ${row}.data`,
			counts: null,
			differs: "OLD.data IS NOT NEW.data",
		});
	}
	for (const { table, place } of model.mappings.values()) {
		// Home feeds are no part of the stream.
		if (place !== undefined) continue;
		yield* triggersOn(table, {
			text: (row) =>
				["from_id", "to_id", "sequence", "state", "version"]
					.map((column) => `${row}.${column}`)
					.join(" || ' ' || "),
			counts: (row) => `${row}.state = ${PRESENT}`,
			// What is only renumbered has its version still.
			differs: "(OLD.state IS NOT NEW.state OR OLD.version IS NOT NEW.version)",
		});
	}
	const name = `${TRIGGER}prune`;
	yield [
		name,
		`CREATE TRIGGER ${quoted(name)} AFTER INSERT ON ${LOG} WHEN NEW.number % ${PRUNED_EACH} = 0 BEGIN
	DELETE FROM ${LOG} WHERE number <= NEW.number - (SELECT keep FROM ${STATE});
END`,
		"change log",
	];
}

interface Logged {
	/** The cells of a row, as one text. */
	readonly text: (row: "OLD" | "NEW") => string;
	/** Whether a row is there for anybody; null: each is. */
	readonly counts: ((row: "OLD" | "NEW") => string) | null;
	/** Whether an update says anything new. */
	readonly differs: string;
}

function* triggersOn(
	table: string,
	{ text, counts, differs }: Logged,
): Generator<Trigger> {
	const trigger = (
		verb: "INSERT" | "UPDATE" | "DELETE",
		when: string | null,
	): Trigger => {
		const name = `${TRIGGER}${table} ${verb.toLowerCase()}`;
		const before = verb === "INSERT" ? "NULL" : text("OLD");
		const after = verb === "DELETE" ? "NULL" : text("NEW");
		return [
			name,
			`CREATE TRIGGER ${quoted(name)} AFTER ${verb} ON ${quoted(table)}${when === null ? "" : ` WHEN ${when}`} BEGIN
	INSERT INTO ${LOG} (at, name, before, after) VALUES (${NOW}, '${table}', ${before}, ${after});
END`,
			table,
		];
	};
	yield trigger("INSERT", counts?.("NEW") ?? null);
	yield trigger(
		"UPDATE",
		counts === null
			? differs
			: `(${counts("OLD")} OR ${counts("NEW")}) AND ${differs}`,
	);
	yield trigger("DELETE", counts?.("OLD") ?? null);
}
