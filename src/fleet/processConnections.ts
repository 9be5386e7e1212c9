import { MYSQL_POOL_LIMITS } from "../feed/pools/mysqlPools.ts";
import { MYSQL_JOB_LIMITS } from "../queue/mysql/mysqlJobStore.ts";
import { mostConnections } from "../storage/mysql/driver/host.ts";
import { MYSQL_LIMITS } from "../storage/mysql/mysqlStorage.ts";
import { parseHostUrl } from "../topology/hostUrl.ts";
import type { HostRange, Topology } from "../topology/types.ts";
import { compact } from "../util/compact.ts";

/**
 * Most connections that one process opens to each MySQL server of a topology, by
 * `host:port`: the graph, queues and pools have their own. A replica is counted as its primary,
 * whose place it may take; reads of a standby are fewer.
 */
export function processConnections(
	topology: Topology,
): ReadonlyMap<string, number> {
	const { shards, lookups, feeds = [], queues = [], pools = [] } = topology;
	const kinds: readonly (readonly [readonly HostRange[], number])[] = [
		[[...shards, ...lookups, ...feeds], mostConnections(MYSQL_LIMITS)],
		[queues, mostConnections(MYSQL_JOB_LIMITS)],
		[pools, mostConnections(MYSQL_POOL_LIMITS)],
	];
	const connections = new Map<string, number>();
	for (const [ranges, most] of kinds) {
		const urls = ranges.flatMap(({ primary, replica }) =>
			compact([primary, replica]),
		);
		const names = urls.flatMap((url) => {
			const parsed = parseHostUrl(url);
			return parsed?.scheme === "mysql" ? [parsed.name] : [];
		});
		for (const name of new Set(names)) {
			connections.set(name, (connections.get(name) ?? 0) + most);
		}
	}
	return connections;
}
