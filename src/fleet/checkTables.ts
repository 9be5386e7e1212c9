import { compareWithFleet, requireNoContradiction } from "../app/fleetModel.ts";
import { readMadeTables } from "../app/lostTables.ts";
import type { Corkboard } from "../app/openCorkboard.ts";
import { openQueues } from "../app/openQueues.ts";
import type { AccessMode } from "../app/openStore.ts";
import { openTopologyStore } from "../app/openTopology.ts";
import { type AppModel, modelFingerprint } from "../app/readApp.ts";
import type { Config } from "../config/config.ts";
import { openPoolsOf } from "../feed/pools/openPools.ts";
import { lostTables } from "../ops/madeTables.ts";
import { readMembers } from "../topology/members.ts";
import { queuesOf } from "../topology/ranges.ts";

/** What `init` would do. */
export interface TableCheck {
	/** What this program's model has and the fleet's lacks. */
	readonly additions: readonly string[];
	/** What the fleet's model has and this program does not know. */
	readonly unknown: readonly string[];
	/** Tables and columns, as `db00000.pins`. */
	readonly missing: readonly string[];
	/** Those of the missing tables that were made once. */
	readonly lost: readonly string[];
	/** Ids of the processes that serve with another model. */
	readonly others: readonly string[];
	readonly shards: number;
	readonly modShards: number;
}

/** Compares the model with the fleet's, and with the tables of every shard, queue and pool. Changes nothing. Throws BAD_MODEL at a contradiction, UNAVAILABLE if a host does not answer. */
export async function checkTables(
	own: AppModel,
	config: Config,
	open: (config: Config, access: AccessMode) => Promise<Corkboard>,
): Promise<TableCheck> {
	const fleet = await compareFleet(own, config);
	await using corkboard = await open(config, "readOnly");
	const { admin, storage, topology } = corkboard;
	const missingOfGraph = await admin.missingTables();
	const missing = [
		...missingOfGraph,
		...(await missingOfQueues(config, corkboard)),
		...(own.feedModel ? await missingOfPools(topology.pools) : []),
	];
	const { shards, modShards } = storage.map;
	const lost = lostTables(
		{ wanted: admin.tables(), missing: missingOfGraph },
		await readMadeTables(config, topology),
		config.store.kind === "topology",
	);
	return { ...fleet, missing, lost, shards: shards.length, modShards };
}

async function compareFleet(
	app: AppModel,
	{ store: place }: Config,
): Promise<Pick<TableCheck, "additions" | "unknown" | "others">> {
	if (place.kind === "embedded") {
		return { additions: [], unknown: [], others: [] };
	}
	await using store = openTopologyStore(place);
	const difference = await compareWithFleet(app, store);
	requireNoContradiction(difference);
	const own = modelFingerprint(app.model);
	const members = await readMembers(store);
	return {
		// A fleet whose model nobody has stored says nothing of what is new.
		additions: difference.isStored ? difference.additions : [],
		unknown: difference.unknown,
		others: members.filter(({ model }) => model !== own).map(({ id }) => id),
	};
}

async function missingOfQueues(
	config: Config,
	{ topology }: Pick<Corkboard, "topology">,
): Promise<readonly string[]> {
	if (config.store.kind === "embedded" || queuesOf(topology).length === 0) {
		return [];
	}
	await using queues = await openQueues(config, "readOnly");
	return await queues.store.missingTables();
}

async function missingOfPools(
	pools: Corkboard["topology"]["pools"] = [],
): Promise<readonly string[]> {
	if (pools.length === 0) return [];
	await using opened = openPoolsOf(pools, { readOnly: true });
	return await opened.missingTables();
}
