import type { LookupKey } from "../../storage/rows.ts";
import type { Table } from "../../storage/statements/tables.ts";
import type { Database } from "../databases.ts";
import type { Snapshot, StoredRow } from "../source/dumpSource.ts";

/** The databases that a dump is restored into. */
export interface RestoreTarget extends AsyncDisposable {
	/** What speaks against writing there, a sentence each. */
	faults(databases: readonly Database[]): Promise<readonly string[]>;

	/** Those of the database's tables that hold a row; the record of a restore, and the id of the graph, are none. */
	filled(database: Database): Promise<readonly string[]>;

	/** Inserts rows. One whose key is there stays as it is. */
	insert(
		database: Database,
		table: Table,
		rows: readonly StoredRow[],
	): Promise<void>;

	/** What is there now. */
	rows(database: Database): Snapshot["rows"];

	/** The token of a lookup row of a mod shard; null if there is no row. */
	lookup(database: Database, key: LookupKey): Promise<string | null>;

	/** Writes a lookup row that names no object. Returns false, and changes nothing, if the row is not as expected; null: there is none. */
	changeLookup(
		database: Database,
		key: LookupKey,
		expect: string | null,
		next: string,
	): Promise<boolean>;

	/** Makes tables give no local id again that the dumped fleet may have given since: they skip so many. */
	raiseIds(databases: readonly Database[], by: number): Promise<void>;
}
