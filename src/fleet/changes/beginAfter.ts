import { CorkboardError } from "../../errors.ts";
import { GtidSet } from "../../storage/mysql/driver/gtidSet.ts";
import { listVersions, readVersion } from "../../topology/history.ts";
import { hostInRanges, shardsOf } from "../../topology/ranges.ts";
import type { Environment } from "../../topology/secret.ts";
import type { TopologyStore } from "../../topology/store.ts";
import type { Topology } from "../../topology/types.ts";
import { nameOf } from "../map/mapRanges.ts";
import { requireCurrent } from "../map/publish.ts";
import { FleetServer } from "../server/fleetServer.ts";
import { byRange, type CopiedShards, type Position } from "./position.ts";

/**
 * The position from which a stream has everything that these copies lack. Each
 * shard has a moment of its own, so the logs are read from the earliest of a
 * server's shards on, and what a shard had already is left out.
 *
 * Throws CONFLICT if changes are missing between the copies and the logs: a
 * shard was not copied or has moved since, a failover has lost what was copied, or
 * a log does not reach back so far.
 */
export async function beginAfter(
	store: TopologyStore,
	environment: Environment,
	{ sets, begun }: CopiedShards,
): Promise<Position> {
	const { topology } = await requireCurrent(store);
	const missing = shardsOf(topology.shards).filter((each) => !sets.has(each));
	if (missing.length > 0) {
		throw refused(
			`Shard ${missing[0]}${missing.length > 1 ? ` and ${missing.length - 1} more are` : " is"} not in the dump.`,
		);
	}
	await requireUnmoved(store, begun);
	const owners = new Map<number, string>();
	const given: string[] = [];
	const hosts = Map.groupBy(topology.shards, ({ primary }) => primary);
	for (const [url, ranges] of hosts) {
		const shards = shardsOf(ranges);
		for (const shard of shards) owners.set(shard, nameOf(url));
		await using server = new FleetServer(url, environment, 1);
		given.push(await firstOf(server, shards, sets));
	}
	const gtids = new GtidSet(given.join(","));
	const beyond = new Map(
		[...sets].filter(
			([shard, set]) => owners.has(shard) && !gtids.contains(new GtidSet(set)),
		),
	);
	return {
		gtids: gtids.toString(),
		owners: byRange(owners),
		...(beyond.size > 0 && { dumped: byRange(beyond) }),
	};
}

/** What all of a server's shards had when they were copied. */
async function firstOf(
	server: FleetServer,
	shards: readonly number[],
	sets: ReadonlyMap<number, string>,
): Promise<string> {
	const executed = new GtidSet(await server.executed());
	let first: GtidSet | null = null;
	for (const shard of shards) {
		const set = new GtidSet(sets.get(shard));
		if (!executed.contains(set)) {
			throw refused(
				`${server.name} lacks transactions that shard ${shard} had when it was dumped: it has moved since, or a failover has lost them.`,
			);
		}
		first = first === null ? set : first.intersection(set);
	}
	const gtids = (first ?? new GtidSet()).toString();
	const gone = await server.subtract(await server.purged(), gtids);
	if (gone !== "") {
		throw refused(
			`The binary log of ${server.name} does not reach back so far: it has no more of ${gone}.`,
		);
	}
	return gtids;
}

/** A shard that went away and came back has changes in the log of a server that the map may not name any more. */
async function requireUnmoved(
	store: TopologyStore,
	begun: string,
): Promise<void> {
	for (const version of await listVersions(store)) {
		const entry = await readVersion(store, version);
		if (entry === null) continue;
		const { at, operation, topology } = entry;
		if (at < begun) return;
		if (operation?.startsWith("move-") !== true) continue;
		const before = await readVersion(store, version - 1);
		if (before !== null && !hasMoved(before.topology, topology)) continue;
		throw refused(`Shards have moved since (${operation}, ${at}).`);
	}
}

function hasMoved(before: Topology, after: Topology): boolean {
	return shardsOf(after.shards).some(
		(shard) =>
			hostInRanges(before.shards, shard) !== hostInRanges(after.shards, shard),
	);
}

function refused(reason: string): CorkboardError {
	return new CorkboardError(
		"CONFLICT",
		`The stream cannot begin with this dump: ${reason} Take another dump.`,
	);
}
