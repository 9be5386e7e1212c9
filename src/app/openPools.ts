import type { FeedConfig } from "../config/feedConfig.ts";
import { CorkboardError } from "../errors.ts";
import {
	MYSQL_POOL_LIMITS,
	openMysqlPools,
	poolHosts,
} from "../feed/mysql/mysqlPools.ts";
import type { Pools } from "../feed/pools.ts";
import { openSqlitePools } from "../feed/sqlite/sqlitePools.ts";
import type { HostWriteGuard } from "../storage/mysql/driver/commitProtocol.ts";
import { parseHostUrl } from "../topology/hostUrl.ts";
import type { HostRange, Topology } from "../topology/types.ts";
import type { AccessMode } from "./openStore.ts";
import { dataFoldersOf } from "./openTopology.ts";

/** How long the last calls on a replaced host may run before it is closed. Milliseconds. */
const DRAIN_MS = 30_000;

/** The pools of a process. */
export interface OpenedPools extends AsyncDisposable {
	/** Of the version of the topology in use: read it again for each call. */
	readonly current: Pools;
	/** Goes over to the pools of a newer topology. */
	switchTopology(topology: Topology): void;
}

/** Opens the pools of a topology, which ask the guard before they write; null where it has none, or the home feed is off. Throws BAD_CONFIG where it is to be on without pools. */
export async function openPools(
	topology: Topology,
	feed: Pick<FeedConfig, "isOn">,
	access: AccessMode,
	writeGuard: HostWriteGuard | null = null,
): Promise<OpenedPools | null> {
	if (feed.isOn === false) return null;
	let ranges = poolsOf(topology);
	if (ranges.length === 0) {
		if (feed.isOn === null) return null;
		throw new CorkboardError(
			"BAD_CONFIG",
			'CORKBOARD_FEED=on needs pools: give the topology "pools" and run init, or leave the setting out.',
		);
	}
	const isEmbedded = dataFoldersOf(topology).size > 0;
	const readOnly = access === "readOnly";
	// Versions share the hosts that they have in common.
	const hosts = poolHosts(MYSQL_POOL_LIMITS, process.env, writeGuard);
	let current = openPoolsOf(ranges, { readOnly, hosts });
	// This process owns the folder.
	if (isEmbedded && !readOnly) await current.createTables();
	const closing = new Map<Pools, NodeJS.Timeout>();
	return {
		get current() {
			return current;
		},
		switchTopology(next) {
			const newer = poolsOf(next);
			if (JSON.stringify(newer) === JSON.stringify(ranges)) return;
			if (newer.length === 0) return;
			const former = current;
			ranges = newer;
			current = openPoolsOf(newer, { readOnly, hosts });
			const timer = setTimeout(() => {
				closing.delete(former);
				void former[Symbol.asyncDispose]();
			}, DRAIN_MS);
			closing.set(former, timer.unref());
		},
		async [Symbol.asyncDispose]() {
			for (const [former, timer] of closing) {
				clearTimeout(timer);
				await former[Symbol.asyncDispose]();
			}
			await current[Symbol.asyncDispose]();
		},
	};
}

/** Of the topology; a folder with a topology of its own has one shard beside the graph's. */
export function poolsOf(topology: Topology): readonly HostRange[] {
	if (topology.pools !== undefined) return topology.pools;
	const [folder] = dataFoldersOf(topology);
	return folder === undefined
		? []
		: [{ range: [0, 0], primary: `sqlite:${folder}` }];
}

export interface PoolOptions {
	/** SQLite refuses to write. */
	readonly readOnly?: boolean;
	/** MySQL hosts that the pools of other versions of the topology share. */
	readonly hosts?: ReturnType<typeof poolHosts>;
}

/** Opens no connection before it is needed. All ranges are on hosts of one kind. */
export function openPoolsOf(
	pools: readonly HostRange[],
	{ readOnly = false, hosts }: PoolOptions = {},
): Pools {
	const isSqlite = pools.some(
		({ primary }) => parseHostUrl(primary)?.scheme === "sqlite",
	);
	return isSqlite
		? openSqlitePools({ pools, readOnly })
		: openMysqlPools({ pools, ...(hosts && { hosts }) });
}
