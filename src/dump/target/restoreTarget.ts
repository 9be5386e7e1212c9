import type { Table } from "../../storage/statements/tables.ts";
import type { Database } from "../databases.ts";
import type { Snapshot, StoredRow } from "../source/dumpSource.ts";

/** The databases that a dump is restored into. */
export interface RestoreTarget extends AsyncDisposable {
	/** What speaks against writing there, a sentence each. */
	faults(databases: readonly Database[]): Promise<readonly string[]>;

	/** Those of the database's tables that hold a row. */
	filled(database: Database): Promise<readonly string[]>;

	/** Inserts rows. One whose key is there stays as it is. */
	insert(
		database: Database,
		table: Table,
		rows: readonly StoredRow[],
	): Promise<void>;

	/** What is there now. */
	rows(database: Database): Snapshot["rows"];

	/** Makes tables give no local id again that the dumped fleet may have given since: they skip so many. */
	raiseIds(databases: readonly Database[], by: number): Promise<void>;
}
