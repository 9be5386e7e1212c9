import { parseHostUrl } from "../../topology/hostUrl.ts";
import { shardsOf } from "../../topology/ranges.ts";
import type { HostRange, Topology } from "../../topology/types.ts";
import type { ACCOUNT_PRIVILEGES } from "../server/accountGrants.ts";

export type DatabaseKind = keyof typeof ACCOUNT_PRIVILEGES;

/** What MySQL compares a name of any of our databases with: `corkboard` belongs to a host, not to a shard. */
export const OUR_DATABASES = "^((db|mod|feed|queue|pool)[0-9]{5}|corkboard)$";
/** Has the outbox of a host's shards, and the row that measures how far a standby of feeds is behind (`storage/mysql/standby/beats.ts`). */
export const HOST_DATABASE = "corkboard";

/** Whether what is of this kind has its entries in the outbox of the host. */
export function usesOutbox(kind: string): boolean {
	return kind === "db" || kind === "feed";
}

/** `db00000` */
export function databaseName(kind: DatabaseKind, number: number): string {
	return `${kind}${String(number).padStart(5, "0")}`;
}

/** The ranges of a topology, by what they hold. */
export function rangesByKind({
	shards,
	lookups,
	feeds = [],
	queues = [],
	pools = [],
}: Topology): Readonly<Record<DatabaseKind, readonly HostRange[]>> {
	return { db: shards, mod: lookups, feed: feeds, queue: queues, pool: pools };
}

/** All that a topology has on each server, replicas too, by `host:port`: what a backup of the server holds. */
export function databasesByHost(
	topology: Topology,
): ReadonlyMap<string, readonly string[]> {
	const databases = new Map<string, Set<string>>();
	for (const [kind, ranges] of Object.entries(rangesByKind(topology))) {
		for (const range of ranges) {
			for (const url of [range.primary, range.replica ?? range.primary]) {
				const host = parseHostUrl(url);
				if (host?.scheme !== "mysql") continue;
				const there = databases.get(host.name) ?? new Set();
				databases.set(host.name, there);
				for (const number of shardsOf([range])) {
					there.add(databaseName(kind as DatabaseKind, number));
				}
				if (usesOutbox(kind)) there.add(HOST_DATABASE);
			}
		}
	}
	return new Map(
		[...databases].map(([host, names]) => [host, [...names].toSorted()]),
	);
}
