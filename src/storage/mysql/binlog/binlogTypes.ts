/** How a column's values are spelled and compared. */
export type ColumnKind = "number" | "bytes" | "text";

export interface BinlogColumn {
	readonly name: string;
	readonly kind: ColumnKind;
	/** As information_schema has it: `bigint unsigned`. */
	readonly type: string;
	/** The character set of a text (default: utf8mb4). */
	readonly characterSet?: string | null;
}

/** A table whose rows are read from a binary log, with its columns in their order. */
export interface BinlogTable {
	readonly database: string;
	readonly name: string;
	readonly columns: readonly BinlogColumn[];
}

/** Which tables are read, where they are not a list that is known beforehand: by `database.name`. */
export interface BinlogTables<Table extends BinlogTable> {
	get(name: string): Table | undefined;
}

/** Numbers as decimal digits, so that none is rounded; bytes as a Buffer. */
export type Cell = null | string | Buffer;

export type Cells = readonly Cell[];

/** A change of one row, in the order of the table's columns. */
export interface RowChange<Table extends BinlogTable = BinlogTable> {
	readonly table: Table;
	/** Null: it was inserted. */
	readonly before: Cells | null;
	/** Null: it was deleted. */
	readonly after: Cells | null;
}

/** A place in the files of a binary log, for servers whose transactions have no GTIDs. */
export interface BinlogPlace {
	readonly file: string;
	readonly position: number;
}

/** What a transaction changed in the tables that are read; a transaction that changed nothing there has no rows. */
export interface BinlogTransaction<Table extends BinlogTable = BinlogTable> {
	/** Empty if it was read from a place. */
	readonly gtid: string;
	/** When its source committed it, in whole seconds. Milliseconds since 1970. */
	readonly at: number;
	readonly rows: readonly RowChange<Table>[];
	/** False for the first parts of a large one: more rows of the same GTID follow. */
	readonly isComplete: boolean;
	/** Where the next one begins, if this one is complete. */
	readonly end: BinlogPlace;
}
