import type { Model } from "../../model/types.ts";
import type { Environment } from "../../topology/secret.ts";
import type { HostRange, Topology } from "../../topology/types.ts";
import { type Deadline, deadlineIn } from "../../util/deadline.ts";
import { isFeedShard } from "../feedShards.ts";
import {
	type HostReport,
	OUTBOX_COUNTED,
	type OutboxReport,
	type Replication,
} from "../hostReport.ts";
import { outboxReport, sizeOf } from "../statements/outbox.ts";
import { StorageFailure } from "../storageFailure.ts";
import { missingTables, tablesByHost } from "./createTables.ts";
import { MYSQL, selectAll } from "./dialect.ts";
import { Host, type HostLimits } from "./driver/host.ts";
import type { Row } from "./driver/mysql2Connection.ts";
import { readSettings } from "./driver/serverLimits.ts";
import { addressOf } from "./serverAddress.ts";
import type { Shard, ShardMap } from "./shards.ts";

/** Time for all hosts, however much they are asked. Milliseconds. */
const LIMIT_MS = 3_000;
/** ER_PARSE_ERROR: before 8.0.22 MySQL had another statement. */
const UNKNOWN_STATEMENT = 1064;

interface InspectOptions {
	readonly model: Model;
	readonly topology: Topology;
	readonly map: ShardMap;
	readonly limits: HostLimits;
	readonly environment: Environment;
}

/** Asks all hosts of a topology at once, replicas too. */
export async function inspectHosts(
	options: InspectOptions,
	deadline = deadlineIn(LIMIT_MS),
): Promise<readonly HostReport[]> {
	const { model, topology, map, limits, environment } = options;
	const primaries = new Set(map.hosts.map(({ name }) => name));
	const tables = tablesByHost(model, topology);
	const replicas = replicaUrls(topology)
		.map((url) => addressOf(url, environment))
		.filter(({ name }) => !primaries.has(name));
	return Promise.all([
		...map.hosts.map((host) =>
			inspectPrimary(host, { model, map, tables }, deadline),
		),
		...replicas.map(async (address) => {
			await using host = new Host(address, limits, true);
			return await inspectReplica(host, tables, deadline);
		}),
	]);
}

/** What all primaries are set for. One that does not answer says nothing. */
export function settingsOfHosts(
	{ model, topology, map }: Pick<InspectOptions, "model" | "topology" | "map">,
	deadline = deadlineIn(LIMIT_MS),
): Promise<readonly Pick<HostReport, "host" | "settings">[]> {
	const tables = tablesByHost(model, topology);
	return Promise.all(
		map.hosts.map(async (host) => ({
			host: host.name,
			settings: await unlessRefused(
				readSettings(host, tables.get(host.name) ?? 0, deadline),
			),
		})),
	);
}

function replicaUrls({
	shards,
	lookups,
	feeds = [],
}: Topology): readonly string[] {
	const ranges: readonly HostRange[] = [...shards, ...lookups, ...feeds];
	return [
		...new Set(ranges.flatMap(({ replica }) => (replica ? [replica] : []))),
	];
}

async function inspectPrimary(
	host: Host,
	{
		model,
		map,
		tables,
	}: {
		readonly model: Model;
		readonly map: ShardMap;
		readonly tables: ReadonlyMap<string, number>;
	},
	deadline: Deadline,
): Promise<HostReport> {
	const mine = <Key>(shards: ReadonlyMap<Key, Shard>) =>
		[...shards].filter(([, shard]) => shard.host === host);
	const shards = mine(map.shards);
	const modShards = mine(map.modShards);
	const known = {
		...UNKNOWN,
		host: host.name,
		role: "primary",
		shards: shards.flatMap(([number]) => (isFeedShard(number) ? [] : [number])),
		feeds: shards.filter(([number]) => isFeedShard(number)).length,
		modShards: modShards.map(([number]) => number),
	} as const;
	const greeted = await greet(host, deadline);
	if (greeted.error !== null) return { ...known, ...greeted };
	const [settings, missing, outbox] = await Promise.all([
		unlessRefused(readSettings(host, tables.get(host.name) ?? 0, deadline)),
		unlessRefused(
			missingTables(
				model,
				{
					shards: new Map(shards),
					modShards: new Map(modShards),
					hosts: [host],
				},
				deadline,
			),
		),
		// Shards without tables have no outbox either.
		unlessRefused(
			readOutbox(
				host,
				shards.map(([number]) => number),
				deadline,
			),
		),
	]);
	return { ...known, ...greeted, settings, missingTables: missing, outbox };
}

async function inspectReplica(
	host: Host,
	tables: ReadonlyMap<string, number>,
	deadline: Deadline,
): Promise<HostReport> {
	const known = { ...UNKNOWN, host: host.name, role: "replica" } as const;
	const greeted = await greet(host, deadline);
	if (greeted.error !== null) return { ...known, ...greeted };
	const [settings, replication] = await Promise.all([
		// It may take the place of its primary.
		unlessRefused(readSettings(host, tables.get(host.name) ?? 0, deadline)),
		unlessRefused(readReplication(host, deadline)),
	]);
	return { ...known, ...greeted, settings, replication };
}

const UNKNOWN = {
	shards: [],
	modShards: [],
	error: null,
	isSilent: false,
	clock: null,
	ms: null,
	version: null,
	isReadOnly: null,
	server: null,
	replication: null,
	outbox: null,
	missingTables: null,
	settings: null,
} satisfies Partial<HostReport>;

async function greet(
	host: Host,
	deadline: Deadline,
): Promise<
	Pick<
		HostReport,
		"error" | "isSilent" | "clock" | "ms" | "version" | "isReadOnly" | "server"
	>
> {
	const ask = () =>
		host.rows(
			{
				name: "read only",
				text: "SELECT @@GLOBAL.read_only, @@version, UNIX_TIMESTAMP(NOW(6)) * 1000",
				values: [],
			},
			optionsBy(deadline),
		);
	try {
		// The first one connects.
		await ask();
		const start = performance.now();
		const began = Date.now();
		const [[isReadOnly, version, at] = []] = await ask();
		return {
			error: null,
			isSilent: false,
			clock: { least: Number(at) - Date.now(), most: Number(at) - began },
			ms: performance.now() - start,
			version: String(version),
			isReadOnly: String(isReadOnly) !== "0",
			server: host.server?.id ?? null,
		};
	} catch (thrown) {
		if (!(thrown instanceof StorageFailure)) throw thrown;
		const { kind, errno, message } = thrown;
		return {
			error: message,
			isSilent: kind === "timeout" && errno === null,
			clock: null,
			ms: null,
			version: null,
			isReadOnly: null,
			server: null,
		};
	}
}

async function readOutbox(
	host: Host,
	shards: readonly number[],
	deadline: Deadline,
): Promise<OutboxReport> {
	const [first, ...others] = shards;
	if (first === undefined) return outboxReport([]);
	const outbox = { host: host.name, shards: [first, ...others] } as const;
	const select = sizeOf(MYSQL, { outbox, limit: OUTBOX_COUNTED });
	const [sizes = []] = await selectAll(host, [select], optionsBy(deadline));
	return outboxReport(sizes);
}

/** Columns of SHOW REPLICA STATUS by position: their names differ by version, their order does not. */
const COLUMNS = { io: 10, sql: 11, lag: 32, ioError: 35, sqlError: 37 };

export async function readReplication(
	host: Host,
	deadline: Deadline,
): Promise<Replication> {
	const show = (what: string) =>
		host.rows(
			{ name: "replication", text: `SHOW ${what} STATUS`, values: [] },
			optionsBy(deadline),
		);
	const [row] = await show("REPLICA").catch((thrown: unknown) => {
		const isOld =
			thrown instanceof StorageFailure && thrown.errno === UNKNOWN_STATEMENT;
		if (!isOld) throw thrown;
		return show("SLAVE");
	});
	if (row === undefined) {
		return {
			isRunning: false,
			lagSeconds: null,
			error: "it has no source",
		};
	}
	const text = (at: number) => String((row as Row)[at] ?? "");
	const lag = text(COLUMNS.lag);
	return {
		isRunning: text(COLUMNS.io) === "Yes" && text(COLUMNS.sql) === "Yes",
		lagSeconds: lag === "" ? null : Number(lag),
		error: text(COLUMNS.sqlError) || text(COLUMNS.ioError) || null,
	};
}

/** Null if the host does not say: without a privilege, without a table, or late. */
async function unlessRefused<T>(answer: Promise<T>): Promise<T | null> {
	try {
		return await answer;
	} catch {
		return null;
	}
}

function optionsBy(deadline: Deadline) {
	return { shard: 0, deadline, isPatient: true } as const;
}
