import type { Id } from "../../id/ids.ts";
import type { Table } from "../../storage/statements/tables.ts";
import type { Database } from "../databases.ts";
import type { DumpPosition } from "../manifest.ts";

/** A row as stored, in the order of the table's columns: whole numbers as decimals. */
export type StoredRow = readonly (string | null)[];

/** The servers, or files, that a dump is read from. */
export interface DumpSource extends AsyncDisposable {
	/** Which server a database is read from, for messages. */
	serverOf(database: Database): string;

	/** What speaks against reading from these servers, a sentence each. */
	faults(databases: readonly Database[]): Promise<readonly string[]>;

	/** The database as it was at one moment, until `body` resolves. */
	snapshot<T>(
		database: Database,
		body: (snapshot: Snapshot) => Promise<T>,
	): Promise<T>;

	/** The stored texts of objects as they are now; of those that are not there, none. */
	objects(ids: readonly Id[]): Promise<ReadonlyMap<Id, string>>;

	/** How far each server is behind its primary, in seconds; null: it does not say. */
	lags(): Promise<ReadonlyMap<string, number | null>>;
}

export interface Snapshot {
	readonly position: DumpPosition;
	/** The next rows of a table in the order of its key: after one, or from the beginning. */
	rows(
		table: Table,
		after: StoredRow | null,
		limit: number,
	): Promise<readonly StoredRow[]>;
}
