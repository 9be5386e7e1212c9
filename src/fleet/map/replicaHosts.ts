import { CorkboardError } from "../../errors.ts";
import { parseHostUrl } from "../../topology/hostUrl.ts";
import type { HostRange, Topology } from "../../topology/types.ts";
import { allRanges, namedSo, nameOf } from "./mapRanges.ts";

/** A primary and a server that is, or is to be, its replica. */
export interface ReplicaHosts {
	/** Names, `host:port`. */
	readonly primary: string;
	readonly replica: string;
	readonly primaryUrl: string;
	readonly replicaUrl: string;
}

/** The hosts of `replicas add`. Throws BAD_TOPOLOGY if the map does not allow it. */
export function findNewReplica(
	topology: Topology,
	given: { readonly host: string; readonly of: string },
): ReplicaHosts {
	const ranges = mysqlRanges(topology);
	const primaries = new Map(
		ranges.map(({ primary }) => [nameOf(primary), primary]),
	);
	const primary = onlyMatch(given.of, [...primaries.keys()], "primary");
	const primaryUrl = primaries.get(primary) as string;
	const replicaUrl = withHost(primaryUrl, given.host);
	const replica = nameOf(replicaUrl);
	for (const range of ranges) {
		if (nameOf(range.primary) === replica) {
			throw refused(`${replica} is a primary in the topology.`);
		}
		if (range.replica === undefined) continue;
		const named = nameOf(range.replica);
		if (named === replica && nameOf(range.primary) !== primary) {
			throw refused(`${replica} is the replica of ${nameOf(range.primary)}.`);
		}
		if (nameOf(range.primary) === primary && named !== replica) {
			throw refused(
				`${primary} has the replica ${named}. Remove that first: corkboard replicas remove ${named}.`,
			);
		}
	}
	return { primary, replica, primaryUrl, replicaUrl };
}

/** The hosts of `replicas remove`. Throws BAD_TOPOLOGY if the map names no such replica. */
export function findReplica(topology: Topology, given: string): ReplicaHosts {
	const found = new Map<string, ReplicaHosts>();
	for (const { primary, replica } of mysqlRanges(topology)) {
		if (replica === undefined) continue;
		const name = nameOf(replica);
		const other = found.get(name);
		if (other !== undefined && other.primary !== nameOf(primary)) {
			throw refused(
				`${name} is named as the replica of ${other.primary} and of ${nameOf(primary)}.`,
			);
		}
		found.set(name, {
			primary: nameOf(primary),
			replica: name,
			primaryUrl: primary,
			replicaUrl: replica,
		});
	}
	const name = onlyMatch(given, [...found.keys()], "replica");
	return found.get(name) as ReplicaHosts;
}

/** Whether any range names it as its replica. */
export function namesReplica(topology: Topology, name: string): boolean {
	return mysqlRanges(topology).some(
		({ replica }) => replica !== undefined && nameOf(replica) === name,
	);
}

/** Null if the map names no such primary. */
export function primaryUrlOf(topology: Topology, name: string): string | null {
	const range = mysqlRanges(topology).find(
		({ primary }) => nameOf(primary) === name,
	);
	return range?.primary ?? null;
}

/** The servers of one pair share an account: a copy has the accounts of its source. */
export function withHost(url: string, host: string): string {
	const changed = url.replace(
		/^(mysql:\/\/(?:[^@/?#]*@)?)[^/?#]*/,
		(_, before) => `${before}${host}`,
	);
	const parsed = parseHostUrl(changed);
	if (parsed?.scheme === "mysql") return changed;
	throw refused(`HOST must be host:port, got ${host}.`);
}

function onlyMatch(
	given: string,
	names: readonly string[],
	what: string,
): string {
	const matching = namedSo(names, given);
	const [name] = matching;
	if (name !== undefined && matching.length === 1) return name;
	const known =
		names.length === 0 ? "it names none" : `it names ${names.join(", ")}`;
	throw refused(
		`The topology names ${matching.length === 0 ? `no ${what}` : `several of the kind ${what}`} ${given}: ${known}.`,
	);
}

/** Those on MySQL: a folder has no replica. */
function mysqlRanges(topology: Topology): readonly HostRange[] {
	return allRanges(topology).filter(
		({ primary }) => parseHostUrl(primary)?.scheme === "mysql",
	);
}

function refused(message: string): CorkboardError {
	return new CorkboardError("BAD_TOPOLOGY", message);
}
