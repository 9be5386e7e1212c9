import { readMadeTables } from "../app/lostTables.ts";
import { openTopology, type TopologySource } from "../app/openTopology.ts";
import type { AppModel } from "../app/readApp.ts";
import type { Config } from "../config/config.ts";
import type { Model } from "../model/types.ts";
import { lostOf, type MadeTables } from "../ops/madeTables.ts";
import {
	type HostReport,
	hostProblems,
	tableProblems,
} from "../storage/hostReport.ts";
import { openMysqlStorage } from "../storage/mysql/mysqlStorage.ts";
import { hasShardFiles } from "../storage/sqlite/driver/hasShardFiles.ts";
import { openSqliteStorage } from "../storage/sqlite/sqliteStorage.ts";
import {
	describeRecordedLoss,
	type RecordedLoss,
	readLosses,
} from "../topology/guards/losses.ts";
import { type Member, readMembers } from "../topology/members.ts";
import {
	dataFoldersOf,
	modShards,
	openShards,
	shardsOf,
} from "../topology/ranges.ts";
import type { Topology } from "../topology/types.ts";
import { compact } from "../util/compact.ts";
import { type Deadline, deadlineIn, withDeadline } from "../util/deadline.ts";
import {
	type CacheReport,
	cacheProblems,
	inspectCaches,
} from "./inspectCaches.ts";
import {
	describeUnknown,
	type OperationRecord,
} from "./operations/operationRecord.ts";
import {
	isOver,
	needsNoRunner,
	readOperations,
} from "./operations/operations.ts";
import { HOLDER_MS, isHeld } from "./operations/signOfLife.ts";
import { clockFaults } from "./preflight/clocks.ts";
import { tablesBeside, withTablesBeside } from "./tablesBeside.ts";

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
	/** Operations that are not over. */
	readonly operations: readonly OpenOperation[];
	/** The problems that are about clocks of hosts. */
	readonly clocks: readonly string[];
	/** The topology that was looked at, with its passwords. */
	readonly map: Topology;
}

/** An operation that has begun and not ended: its servers are locked, and may be fenced. */
interface OpenOperation extends Pick<OperationRecord, "id" | "from" | "to"> {
	/** An `OperationStep`, or what a record that this program does not know says; empty: nothing. */
	readonly step: string;
	/** Why this program does not know its record, and leaves it alone; null: it does. */
	readonly unknown: string | null;
	/** Whether somebody runs it. */
	readonly isHeld: boolean;
}

/** How long each part may take, from its own beginning: what one waits for is not taken from another. Milliseconds. */
interface StatusLimits {
	/** For the topology, before all others. */
	readonly storeMs: number;
	/** For hosts, caches, pools and members, which are asked at once. */
	readonly askMs: number;
	/** For operations: that nobody runs one is known after three seconds. */
	readonly operationsMs: number;
}

const LIMITS: StatusLimits = {
	storeMs: 1_500,
	askMs: 3_000,
	operationsMs: HOLDER_MS + 2_000,
};

/** Entries that wait for longer are not delivered by anybody: a pass takes seconds. CorkboardOutboxBehind has the same limit (a test compares them). */
export const MAX_OUTBOX_AGE_SECONDS = 30;

/** Asks all hosts and caches at once. Needs no secret and changes nothing. */
export async function fleetStatus(
	{ model, feedModel }: Pick<AppModel, "model" | "feedModel">,
	config: Config,
	limits: Partial<StatusLimits> = {},
): Promise<FleetStatus> {
	const { storeMs, askMs, operationsMs } = { ...LIMITS, ...limits };
	await using source = await openTopology(config, null, storeMs);
	const { topology } = source;
	const deadline = deadlineIn(askMs);
	const [
		{ reports, tables },
		caches,
		beside,
		members,
		made,
		operations,
		losses,
	] = await Promise.all([
		inspectTopology(model, topology, deadline),
		inspectCaches(config, topology.caches, deadline),
		tablesBeside(topology, feedModel !== null, deadline),
		membersOf(source, deadline),
		madeTablesOf(config, source, deadline),
		openOperations(source, deadlineIn(operationsMs)),
		lossesOf(source, deadline),
	]);
	const { reports: hosts, problems: problemsBeside } = withTablesBeside(
		reports,
		topology,
		beside,
	);
	const clocks = clockFaults(
		hosts.flatMap(({ host, clock }) =>
			clock === null ? [] : [{ name: host, ...clock }],
		),
	);
	const { store } = config;
	const problems = compact([
		source.problem?.message,
		hosts.length === 0 &&
			"The data folder holds no data yet: the first start creates it.",
		// The record outlives the host's place in the map: nobody writes there then.
		...losses
			.filter(({ host: lost }) => hosts.some(({ host }) => host === lost))
			.map(describeRecordedLoss),
		...hostProblems(hosts),
		...tableProblems(
			hosts,
			lostOf(hosts, tables, made, store.kind === "topology"),
		),
		...hosts.flatMap(outboxProblems),
		...cacheProblems(caches),
		...problemsBeside,
		...operations.flatMap(abandoned),
		...(members ?? []).flatMap(wrongClock),
		...differentCaches(members ?? []),
		...clocks,
	]);
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
		operations,
		clocks,
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

/** None if the store does not say. */
async function lossesOf(
	{ store, problem }: TopologySource,
	deadline: Deadline,
): Promise<readonly RecordedLoss[]> {
	if (store === null || problem?.code === "UNAVAILABLE") return [];
	return withDeadline(readLosses(store), deadline).catch(() => []);
}

async function membersOf(
	{ store, problem }: TopologySource,
	deadline: Deadline,
): Promise<readonly Member[] | null> {
	if (store === null || problem?.code === "UNAVAILABLE") return null;
	const members = await withDeadline(readMembers(store), deadline).catch(
		() => null,
	);
	// A process that could not announce itself may serve.
	return members?.length === 0 && !store.hasMembers ? null : members;
}

/** None if the store does not answer, which is a problem of its own. */
async function openOperations(
	{ store, problem }: TopologySource,
	deadline: Deadline,
): Promise<readonly OpenOperation[]> {
	if (store === null || problem?.code === "UNAVAILABLE") return [];
	const look = async () => {
		const { records, unknown } = await readOperations(store);
		const open = [
			...records
				.filter((record) => !isOver(record))
				.map(({ id, step, from, to }) => ({
					id,
					step,
					from,
					to,
					unknown: null,
				})),
			...unknown
				.filter((record) => !isOver(record))
				.map(({ id, step, hosts: [from = "", to = ""], reason }) => ({
					id,
					step: step ?? "",
					from,
					to,
					unknown: reason,
				})),
		];
		return Promise.all(
			open.map(async (each) => ({
				...each,
				isHeld: await isHeld(store, each.id),
			})),
		);
	};
	return withDeadline(look(), deadline).catch(() => []);
}

/** Those who differ from the fleet read past their caches. */
export function differentCaches(
	members: readonly Pick<Member, "id" | "caches">[],
): readonly string[] {
	const parts = new Set(members.flatMap(({ caches }) => Object.keys(caches)));
	return [...parts].flatMap((part) => {
		const speaking = members.filter(({ caches }) => caches[part] != null);
		const byServers = Map.groupBy(speaking, ({ caches }) => caches[part]);
		if (byServers.size < 2) return [];
		const groups = [...byServers.values()].map((group) =>
			group.map(({ id }) => id).join(", "),
		);
		const cure =
			part === "objects"
				? "Give all the same CORKBOARD_MEMCACHED"
				: part === "lists"
					? "Give all the same CORKBOARD_REDIS"
					: "That name has to lead all of them to one server";
		return [
			`Processes have different caches for ${part}: ${groups.join(" against ")}. ${cure}: until then some read past theirs.`,
		];
	});
}

function wrongClock({ id, clock }: Member): readonly string[] {
	return clock === 0
		? []
		: [
				`${id}: its clock is ${Math.abs(clock)} s ${clock > 0 ? "before" : "behind"} those of the database hosts, as it has found itself. Synchronize the clocks of all machines.`,
			];
}

function abandoned({ id, step, from, isHeld, unknown }: OpenOperation) {
	if (unknown !== null) return [describeUnknown({ id, reason: unknown })];
	return isHeld || needsNoRunner(step)
		? []
		: [
				`${id} stands at "${step}" and nobody runs it, so ${from} is locked and may take no writes: operations resume ${id}, or operations abort ${id}.`,
			];
}

/** Null too if the store does not answer. */
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
	model: Model,
	topology: Topology,
	deadline?: Deadline,
): Promise<{
	readonly reports: readonly HostReport[];
	/** All that the model asks for, as `db00003.pins`. */
	readonly tables: readonly string[];
}> {
	const folders = dataFoldersOf(topology);
	const options = { model, topology, readOnly: true };
	if (folders.size === 0) {
		await using storage = await openMysqlStorage(options);
		return {
			reports: await storage.admin.inspectHosts(deadline),
			tables: storage.admin.tables(),
		};
	}
	if (![...folders].every(hasShardFiles)) return { reports: [], tables: [] };
	await using storage = await openSqliteStorage(options);
	return {
		reports: await storage.admin.inspectHosts(),
		tables: storage.admin.tables(),
	};
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
