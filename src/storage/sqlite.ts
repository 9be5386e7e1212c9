import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { type Call, CHANNELS } from "../diagnostics.ts";
import { CorkboardError } from "../errors.ts";
import { type Id, unpackId } from "../id/ids.ts";
import type { Mapping, Model } from "../model/types.ts";
import { ShardFile } from "../sqlite/shardFile.ts";
import type { HostRange, Topology } from "../topology/types.ts";
import { inGroups } from "./inGroups.ts";
import { modShard } from "./modShard.ts";
import type {
	Answer,
	DebtKey,
	DebtRow,
	Edge,
	EdgeKey,
	ListRow,
	LookupChange,
	LookupKey,
	LookupRow,
	Scan,
	Scanned,
	Storage,
	StoredObject,
	Transacted,
	Transaction,
} from "./port.ts";
import { modShardTables, shardTables } from "./sqliteDdl.ts";
import { walkLists } from "./sqliteLists.ts";
import {
	changeLookups,
	readLookups,
	walkLookups,
} from "./sqliteLookups.ts";
import { mappingStatements, readEdges, walkEdges } from "./sqliteMappings.ts";
import { objectStatements, readObjects, walkObjects } from "./sqliteObjects.ts";
import { type DatedDebt, deleteDebts, oldestDebts } from "./sqliteOutbox.ts";
import {
	checkScan,
	scanLists,
	type ScanStatements,
	scanStatements,
} from "./sqliteScan.ts";
import { type Statements, transact } from "./sqliteTransact.ts";

const SCHEME = "sqlite:";

/** How many rows a walk holds at a time. */
const WALK_ROWS = 1_000;

/**
 * Storage on SQLite: each shard is a file `db00000.sqlite` in the folder its
 * range names, each mod shard a file `mod00000.sqlite`, and each file counts as
 * a host. Nothing is opened before it is needed. With `readOnly` files are only
 * read, beside another process that owns the folder.
 */
export async function openSqliteStorage(options: {
	readonly model: Model;
	readonly topology: Topology;
	readonly readOnly?: boolean;
}): Promise<Storage> {
	return new SqliteStorage(options);
}
