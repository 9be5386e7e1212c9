import type { Config } from "../config/config.ts";
import {
	type HostReport,
	hostProblems,
	tableProblems,
} from "../storage/hostReport.ts";
import { openMysqlStorage } from "../storage/mysql/mysqlStorage.ts";
import { hasShardFiles } from "../storage/sqlite/driver/hasShardFiles.ts";
import { openSqliteStorage } from "../storage/sqlite/sqliteStorage.ts";
import { type Member, readMembers } from "../topology/members.ts";
import { modShards, openShards, shardsOf } from "../topology/ranges.ts";
import type { Topology } from "../topology/types.ts";
import { type Deadline, withDeadline } from "../util/deadline.ts";
import {
	type CacheReport,
	cacheProblems,
	inspectCaches,
} from "./inspectCaches.ts";
import { readMadeTables } from "./lostTables.ts";
import { lostOf, type MadeTables } from "./madeTables.ts";
import { loadOwnModel } from "./model.ts";
import {
	dataFoldersOf,
	openTopology,
	type TopologySource,
} from "./openTopology.ts";
import { poolProblems } from "./poolProblems.ts";
import { CREATE_TABLES, NAMED_TABLES } from "./reportMissingTables.ts";

/** A fleet as it answers now. */
export interface FleetStatus {
	readonly healthy: boolean;
	/** A sentence for each. */
	readonly problems: readonly string[];
	readonly topology: {
		/** The file, or the embedded folder. */
		readonly source: string;
		readonly version: number;
		/** Whether the store of the topology answers; null: there is none, or it is a file. Servers go on without it. */
		readonly store: "up" | "down" | null;
		readonly shards: number;
		readonly openShards: number;
		/** Open, but servers create nothing there because tables are missing. */
		readonly heldShards: readonly number[];
		readonly modShards: number;
	};
	/** The processes that serve; null: not known, or not announced anywhere. */
	readonly members: readonly Member[] | null;
	readonly hosts: readonly HostReport[];
	readonly caches: readonly CacheReport[];
	/** The topology that was looked at, with its passwords. */
	readonly map: Topology;
}

/** Of the time that the hosts get, for the store of the topology. Milliseconds. */
const STORE_MS = 1_500;

/** Entries that wait for longer are not delivered by anybody: a pass takes seconds. CorkboardOutboxBehind has the same limit (a test compares them). */
export const MAX_OUTBOX_AGE_SECONDS = 30;

/** Asks all hosts and caches at once, with one deadline for all. Needs no secret and changes nothing. */
export async function fleetStatus(
	config: Config,
	deadline: Deadline,
): Promise<FleetStatus> {
	await using source = await openTopology(config, null, STORE_MS);
	const { topology } = source;
	const [{ reports: hosts, tables }, caches, pools, members, made] =
		await Promise.all([
			inspectTopology(topology, deadline),
			inspectCaches(config, deadline),
			poolProblems(topology, deadline),
			membersOf(source, deadline),
			madeTablesOf(config, source, deadline),
		]);
	const { store } = config;
	const problems = [
		...(source.problem === null ? [] : [source.problem.message]),
		...(hosts.length === 0
			? ["The data folder holds no data yet: the first start creates it."]
			: []),
		...hostProblems(hosts),
		...tableProblems(
			hosts,
			NAMED_TABLES,
			CREATE_TABLES,
			lostOf(hosts, tables, made, store.kind === "topology"),
		),
		...hosts.flatMap(outboxProblems),
		...cacheProblems(caches),
		...pools,
	];
	const open = openShards(topology);
	const lacking = new Set(hosts.flatMap(shardsWithoutTables));
	return {
		healthy: problems.length === 0,
		problems,
		topology: {
			source: store.kind === "topology" ? store.name : store.folder,
			version: topology.version,
			store: storeState(config, source),
			shards: shardsOf(topology.shards).length,
			openShards: open.length,
			heldShards: open.filter((shard) => lacking.has(shard)),
			modShards: modShards(topology),
		},
		members,
		hosts,
		caches,
		map: topology,
	};
}

function storeState(
	{ store }: Config,
	{ problem }: TopologySource,
): FleetStatus["topology"]["store"] {
	if (store.kind === "embedded" || store.location.scheme === "file") {
		return null;
	}
	return problem?.code === "UNAVAILABLE" ? "down" : "up";
}

async function membersOf(
	{ store, problem }: TopologySource,
	deadline: Deadline,
): Promise<readonly Member[] | null> {
	if (store === null || problem?.code === "UNAVAILABLE") return null;
	const members = await withDeadline(readMembers(store), deadline).catch(
		() => null,
	);
	// Who could not announce itself may serve.
	return members?.length === 0 && !store.hasMembers ? null : members;
}

/** Null too where the store does not answer. */
async function madeTablesOf(
	config: Config,
	{ topology, store, problem }: TopologySource,
	deadline: Deadline,
): Promise<MadeTables | null> {
	if (store !== null && problem?.code === "UNAVAILABLE") return null;
	return withDeadline(
		readMadeTables(config, topology, store ?? undefined),
		deadline,
	).catch(() => null);
}

/** Asks every host of a topology, replicas too. Embedded folders without data have none. */
export async function inspectTopology(
	topology: Topology,
	deadline?: Deadline,
): Promise<{
	readonly reports: readonly HostReport[];
	/** All that the model asks for, as `db00003.pins`. */
	readonly tables: readonly string[];
}> {
	const { model } = loadOwnModel();
	const folders = dataFoldersOf(topology);
	const options = { model, topology, readOnly: true };
	if (folders.size === 0) {
		await using storage = await openMysqlStorage(options);
		return {
			reports: await storage.inspectHosts(deadline),
			tables: storage.tables(),
		};
	}
	if (![...folders].every(hasShardFiles)) return { reports: [], tables: [] };
	await using storage = await openSqliteStorage(options);
	return { reports: await storage.inspectHosts(), tables: storage.tables() };
}

function outboxProblems({ host, outbox }: HostReport): readonly string[] {
	if (outbox === null || outbox.oldestSeconds <= MAX_OUTBOX_AGE_SECONDS) {
		return [];
	}
	const { pending, oldestSeconds } = outbox;
	return [
		`${host} has ${pending} outbox entries that wait for delivery, the oldest for ${oldestSeconds} s.`,
	];
}

function shardsWithoutTables({ missingTables }: HostReport): readonly number[] {
	return (missingTables ?? []).flatMap((table) => {
		const [, shard] = /^db([0-9]+)\./.exec(table) ?? [];
		return shard === undefined ? [] : [Number(shard)];
	});
}
