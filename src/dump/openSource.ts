import type { Model } from "../model/types.ts";
import { dataFoldersOf } from "../topology/ranges.ts";
import type { Environment } from "../topology/secret.ts";
import type { Topology } from "../topology/types.ts";
import type { Database } from "./databases.ts";
import type { DumpSource } from "./source/dumpSource.ts";
import { MysqlSource } from "./source/mysqlSource.ts";
import { SqliteSource } from "./source/sqliteSource.ts";

/** What a dump of these databases is read from. Throws BAD_TOPOLOGY. */
export function openSource(options: {
	readonly model: Model;
	readonly topology: Topology;
	readonly databases: readonly Database[];
	readonly environment: Environment;
	readonly mayReadPrimaries: boolean;
}): DumpSource {
	const { model, topology, databases } = options;
	return dataFoldersOf(topology).size > 0
		? new SqliteSource(model, databases)
		: new MysqlSource(options);
}
