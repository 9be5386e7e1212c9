import type { Config } from "../config/config.ts";
import {
	createLostTables,
	type MadeTables,
	readMade,
	recordInFolders,
	recordInStore,
} from "../ops/madeTables.ts";
import { openMysqlStorage } from "../storage/mysql/mysqlStorage.ts";
import { openSqliteStorage } from "../storage/sqlite/sqliteStorage.ts";
import { dataFoldersOf } from "../topology/ranges.ts";
import type { ReadableStore } from "../topology/store.ts";
import type { Topology } from "../topology/types.ts";
import type { App } from "./defineApp.ts";
import { lockDataFolders } from "./openStore.ts";
import { openTopology, openTopologyStore } from "./openTopology.ts";
import { readApp } from "./readApp.ts";

/** Makes lost tables again, and nothing else. Returns which. */
export async function recreateLostTables(
	app: App,
	config: Config,
): Promise<readonly string[]> {
	await using opened = new AsyncDisposableStack();
	const { topology } = opened.use(await openTopology(config));
	const { model } = readApp(app);
	const folders = dataFoldersOf(topology);
	const { store: configured } = config;
	if (folders.size > 0) {
		lockDataFolders(topology, "readWrite", opened);
		const storage = opened.use(await openSqliteStorage({ model, topology }));
		return await createLostTables(
			storage.admin,
			recordInFolders(folders),
			configured.kind === "topology",
		);
	}
	if (configured.kind === "embedded") return [];
	const store = opened.use(openTopologyStore(configured));
	const storage = opened.use(await openMysqlStorage({ model, topology }));
	return await createLostTables(storage.admin, recordInStore(store), true);
}

/** What is remembered of the tables of a topology. Throws UNAVAILABLE if its store does not answer. */
export async function readMadeTables(
	{ store: configured }: Pick<Config, "store">,
	topology: Topology,
	/** The topology store (default: opened for this). */
	store?: ReadableStore,
): Promise<MadeTables | null> {
	const folders = dataFoldersOf(topology);
	if (folders.size > 0) return recordInFolders(folders).read();
	if (store !== undefined) return readMade(store);
	if (configured.kind === "embedded") return null;
	await using own = openTopologyStore(configured);
	return await readMade(own);
}
