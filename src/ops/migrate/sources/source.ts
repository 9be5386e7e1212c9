import type { Row } from "../mapping.ts";
import type { SourceLog } from "./log.ts";

/** A table of the old database, and which of its rows are meant. */
export interface SourceTable {
	readonly table: string;
	/** The columns that the rows are read in the order of, which identify one. */
	readonly key: readonly string[];
	/** SQL. */
	readonly where?: string;
}

/** Rows that are found by some columns, and come in the order of others. */
export interface FoundRows extends SourceTable {
	/** The columns of their order (default: any order). */
	readonly order?: readonly string[];
}

/** A table whose log is read. */
interface LoggedTable {
	readonly table: string;
	/** The columns that identify a row. */
	readonly key: readonly string[];
	/** The columns that say which edge a row is; none for objects. */
	readonly edgeColumns: readonly string[];
}

/** Where a row is in the order of its table: the values of its key, or its number in a file. */
export type Cursor = readonly (string | number)[];

export interface SourceRow {
	readonly row: Row;
	readonly cursor: Cursor;
}

export interface Column {
	readonly name: string;
	/** As the old database calls it. */
	readonly type: string;
	readonly isNullable: boolean;
	/** Whether it is a part of the primary key. */
	readonly isKey: boolean;
	/** The table that its foreign key leads to. */
	readonly leadsTo: string | null;
	/** The character set of a text in MySQL. */
	readonly characterSet?: string | null;
}

/** The old database. Nothing is ever written to it. */
export interface Source extends AsyncDisposable {
	/** Without its password, for messages. */
	readonly shownUrl: string;
	readonly tables: ReadonlyMap<string, readonly Column[]>;
	/** About how many rows a table has; null if only reading them would say it. */
	estimate(table: SourceTable): Promise<number | null>;
	/** The rows in the order of their key, in pages. With `since`, those whose column is that or more. */
	scan(
		table: SourceTable,
		options: {
			readonly after?: Cursor;
			readonly since?: { readonly column: string; readonly value: string };
			readonly limit?: number;
		},
	): AsyncIterable<readonly SourceRow[]>;
	/** The rows with these keys. With `order`, those of one key come in that order. */
	rowsOf(
		table: FoundRows,
		keys: readonly (readonly string[])[],
	): Promise<readonly Row[]>;
	/** The rows of a statement. `:name` in it is the value of that name. Throws BAD_CONFIG if the database refuses it. */
	select(sql: string, values: Row): Promise<readonly Row[]>;
	/** Its log, for the tables of these plans. PostgreSQL keeps its place under `name`. Throws BAD_CONFIG if there is no log, with what has to be set or granted. */
	openLog(tables: readonly LoggedTable[], name: string): Promise<SourceLog>;
	/** How far replicas of the database are behind, or the database itself if it is one, as far as it says, in seconds; null if it does not. */
	lag(): Promise<number | null>;
	/** Why the database takes writes, as far as its settings say, and what to run to stop them; null if it takes none. */
	takesWrites(): Promise<string | null>;
	/** The sessions of others, if a setting that stops writes does not reach those that are open; null if it does. */
	openSessions(): Promise<OpenSessions | null>;
	/** A text that differs after a write to one of the tables. */
	writeMark(tables: readonly string[]): Promise<string>;
	/** The greatest value of a column, as text; null if there is none. */
	greatest(table: SourceTable, column: string): Promise<string | null>;
}

export interface OpenSessions {
	/** A text that differs once the setting was taken back and set again. */
	readonly setting: string;
	readonly sessions: readonly {
		readonly pid: number;
		/** Whose it is, and what it does. */
		readonly shown: string;
	}[];
}

/** Rows of one read. */
export const PAGE = 2_000;
