import { CorkboardError } from "../../errors.ts";
import type { Topology } from "../../topology/types.ts";
import type { HostLease, SharedHosts } from "./sharedHosts.ts";

/**
 * Gives each primary of a topology its replica as the successor, which gets its
 * first connections once the primary refuses writes: as in a promotion, after
 * which all requests of this process would open theirs at the same moment.
 * What is returned holds the replicas for as long as the version is in use.
 */
export function prepareSuccessors(
	{ shards, lookups, feeds = [] }: Topology,
	hosts: SharedHosts,
): HostLease {
	const lease = hosts.lease();
	for (const { primary, replica } of [...shards, ...lookups, ...feeds]) {
		if (replica === undefined) continue;
		try {
			lease.at(primary).successor = lease.at(replica);
		} catch (thrown) {
			// Nothing is asked of it: an address that cannot be used is no failure of this version.
			if (!(thrown instanceof CorkboardError)) throw thrown;
		}
	}
	return lease;
}
