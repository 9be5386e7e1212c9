import type { Pools } from "../feed/pools.ts";
import { openSqlitePools } from "../feed/sqlite/sqlitePools.ts";
import type { Topology } from "../topology/types.ts";
import type { AccessMode } from "./openStore.ts";
import { dataFoldersOf } from "./openTopology.ts";

/** The pools of home feeds, with their tables; null where there are none, or nothing may be written. `resources` closes them. */
export async function openPools(
	topology: Topology,
	access: AccessMode,
	resources: AsyncDisposableStack,
): Promise<Pools | null> {
	if (access !== "readWrite") return null;
	const [folder] = dataFoldersOf(topology);
	if (folder === undefined) return null;
	const pools = resources.use(
		openSqlitePools({
			pools: [{ range: [0, 0], primary: `sqlite:${folder}` }],
		}),
	);
	await pools.createTables();
	return pools;
}
