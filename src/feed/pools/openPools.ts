import { CorkboardError } from "../../errors.ts";
import type { HostWriteGuard } from "../../storage/mysql/driver/commitProtocol.ts";
import { parseHostUrl } from "../../topology/hostUrl.ts";
import { dataFoldersOf, poolsOf } from "../../topology/ranges.ts";
import type { HostRange, Topology } from "../../topology/types.ts";
import type { Sources } from "../sources.ts";
import { openMysqlPools } from "./mysqlPools.ts";
import { openSqlitePools } from "./sqlitePools.ts";
import type { OpenedPools } from "./storedPools.ts";

export interface PoolOptions {
	/** The version of the topology that says where they are (default 0: nobody asks). */
	readonly version?: number;
	/** SQLite refuses to write. */
	readonly readOnly?: boolean;
	/** Those of the app; without them only tables and visits can be asked for. */
	readonly sources?: Sources | undefined;
	/** Asked before each write to a host of MySQL. */
	readonly writeGuard?: HostWriteGuard | null;
	/** Called when `oldestVersion` may have risen. */
	readonly onRetired?: (() => void) | undefined;
}

/** Opens the pools of a topology; null if it has none, or the home feed is off. Throws BAD_CONFIG if it is to be on without pools. */
export async function openPools(
	topology: Topology,
	/** Null: only if there are pools. */
	isOn: boolean | null,
	options: PoolOptions = {},
): Promise<OpenedPools | null> {
	if (isOn === false) return null;
	const ranges = poolsOf(topology);
	if (ranges.length === 0) {
		if (isOn === null) return null;
		throw new CorkboardError(
			"BAD_CONFIG",
			'CORKBOARD_FEED=on needs pools: give the topology "pools" and run init, or leave the setting out.',
		);
	}
	const { version } = topology;
	const pools = openPoolsOf(ranges, { version, ...options });
	// This process owns the folder.
	if (dataFoldersOf(topology).size > 0 && !options.readOnly) {
		await pools.createTables();
	}
	return pools;
}

/** Opens no connection before it is needed. All ranges are on hosts of one kind. */
export function openPoolsOf(
	pools: readonly HostRange[],
	{ readOnly = false, ...options }: PoolOptions = {},
): OpenedPools {
	const isSqlite = pools.some(
		({ primary }) => parseHostUrl(primary)?.scheme === "sqlite",
	);
	return isSqlite
		? openSqlitePools({ pools, readOnly, sources: options.sources })
		: openMysqlPools({ pools, ...options });
}
