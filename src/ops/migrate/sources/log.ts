import type { Row } from "../mapping.ts";

/** What the log of the old database says of a row: which one was touched. What it holds now is read from its table. */
export interface RowImage {
	readonly table: string;
	/** The columns that the log has: of a row that was changed or deleted maybe only its key. */
	readonly row: Row;
	/** Whether it says what the row was, not what it became. */
	readonly isBefore: boolean;
}

export interface LogBatch {
	readonly images: readonly RowImage[];
	/** Where to continue after it; null inside of a large transaction. */
	readonly position: string | null;
	/** When the last of it was committed, in milliseconds since 1970; null if that is not known. */
	readonly at: number | null;
}

/** The binary log of MySQL, or the logical replication of PostgreSQL. */
export interface SourceLog extends AsyncDisposable {
	/** What the log lacks, as sentences: only full passes find that. Throws BAD_CONFIG with what has to be set or granted. */
	check(): Promise<readonly string[]>;
	/** The end of the log. PostgreSQL keeps what follows it, until `drop`. */
	begin(): Promise<string>;
	/** The end of the log. */
	end(): Promise<string>;
	/** Whether a position has all that another one has. */
	has(position: string, wanted: string): boolean;
	/** What follows a position. While nothing comes it yields a batch without images every second. Throws CONFLICT if the log does not reach back. */
	read(after: string, signal: AbortSignal): AsyncGenerator<LogBatch>;
	/** Resolves when other connections see all that lies before a position. */
	settle(position: string): Promise<void>;
	/** What lies before is not needed any more. */
	confirm(position: string): Promise<void>;
	/** The server need not keep anything any more. */
	drop(): Promise<void>;
}

/** Images of one batch, about. */
export const LOG_ROWS = 20_000;
/** How often a log without changes yields. Milliseconds. */
export const LOG_IDLE_MS = 1_000;
