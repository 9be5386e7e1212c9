import { CorkboardError } from "../../errors.ts";
import type { Model } from "../../model/types.ts";
import { parseHostUrl } from "../../topology/hostUrl.ts";
import type { HostRange, Topology } from "../../topology/types.ts";
import { type Deadline, deadlineIn } from "../../util/deadline.ts";
import { FEED_SHARDS, isFeedShard } from "../feedShards.ts";
import { MOD_SHARD_TABLES, OUTBOX, shardTables } from "../statements/tables.ts";
import { StorageFailure } from "../storageFailure.ts";
import {
	createDatabase,
	createTable,
	HOST_DATABASE,
	HOST_OUTBOX,
	type MysqlTable,
} from "./ddl.ts";
import type { Host } from "./driver/host.ts";
import type { Sql } from "./driver/mysqlConnection.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import type { Shard, ShardMap } from "./shards.ts";
import { BEAT_TABLE } from "./standby/beats.ts";

/** More at once do not create more tables a second (measured on 4 cores). */
const SHARDS_AT_ONCE = 4;
/** Time for one shard, and for reading what exists. Milliseconds. */
const STEP_MS = 60_000;

const HOST_TABLES: readonly MysqlTable[] = [HOST_OUTBOX];
/** The standbys of feeds are read by the beat of their primary. */
const HOST_TABLES_WITH_FEEDS: readonly MysqlTable[] = [HOST_OUTBOX, BEAT_TABLE];

interface Wanted {
	readonly shard: Shard;
	readonly tables: readonly MysqlTable[];
	/** As `tableNames` has them, which are in one of the tables. */
	readonly outboxes?: readonly string[];
}

/**
 * Creates missing tables: all hosts side by side, some shards of each at once.
 * It can be stopped anywhere and run again.
 */
export async function createTables(
	model: Model,
	{ shards, modShards, hosts }: ShardMap,
	progress?: (done: number, total: number) => void,
	/** First ids of tables with local ids, by `database.table`. */
	firstIds: ReadonlyMap<string, number> = new Map(),
): Promise<void> {
	const wanted = tablesOfShards(model, shards, modShards);
	const total = shards.size + modShards.size;
	let done = 0;
	const results = await Promise.allSettled(
		hosts.map((host) =>
			createOnHost(
				host,
				wanted.filter(({ shard }) => shard.host === host),
				firstIds,
				() => {
					done += 1;
					progress?.(done, total);
				},
			),
		),
	);
	for (const result of results) {
		if (result.status === "rejected") throw operatorError(result.reason);
	}
}

/** All tables, as `database.table`. */
export function tableNames(
	model: Model,
	{ shards, modShards }: Pick<ShardMap, "shards" | "modShards">,
): readonly string[] {
	return [
		...tablesOfShards(model, shards, modShards).flatMap(
			({ shard: { database }, tables }) =>
				database === HOST_DATABASE
					? []
					: tables.map(({ name }) => `${database}.${name}`),
		),
		...[...shards.values()].map(outboxOf),
	];
}

/** Names the outbox by shard: a host's outbox that was lost is not taken for a new one, whatever the host is called. */
function outboxOf({ database }: Pick<Shard, "database">): string {
	return `${database}.${HOST_DATABASE}.${OUTBOX.name}`;
}

/** The outboxes of shards that are new, or whose host has none. */
function withoutOutbox(
	wanted: readonly Wanted[],
	existing: ReadonlySet<string>,
): readonly string[] {
	const isThere = existing.has(`${HOST_DATABASE}.${OUTBOX.name}`);
	const databases = new Set(
		[...existing].map((name) => name.slice(0, name.indexOf("."))),
	);
	return wanted
		.flatMap(({ outboxes = [] }) => outboxes)
		.filter((name) => {
			const [database = ""] = name.split(".");
			return !isThere || !databases.has(database);
		});
}

/** How many tables each server of a topology has or follows, by `host:port`. */
export function tablesByHost(
	model: Model,
	{ shards, lookups, feeds = [] }: Topology,
): ReadonlyMap<string, number> {
	const kinds: readonly (readonly [readonly HostRange[], number])[] = [
		[shards, shardTables(model).length],
		[lookups, MOD_SHARD_TABLES.length],
		[feeds, shardTables(model, "feed").length],
	];
	const counts = new Map<string, number>();
	for (const [ranges, each] of kinds) {
		for (const { range, primary, replica } of ranges) {
			const tables = (range[1] - range[0] + 1) * each;
			for (const url of replica ? [primary, replica] : [primary]) {
				const host = parseHostUrl(url);
				if (host?.scheme !== "mysql") continue;
				counts.set(host.name, (counts.get(host.name) ?? 0) + tables);
			}
		}
	}
	return counts;
}

/** What `createTables` would create. */
export async function missingTables(
	model: Model,
	{ shards, modShards, hosts }: ShardMap,
	deadline?: Deadline,
): Promise<readonly string[]> {
	const wanted = tablesOfShards(model, shards, modShards);
	try {
		const missing = await Promise.all(
			hosts.map(async (host) => {
				const here = wanted.filter(({ shard }) => shard.host === host);
				if (await hasAll(host, here, deadline)) return [];
				const existing = await readExisting(host, here, deadline);
				return [
					...here.flatMap((wanted) =>
						missingIn(wanted, existing).map(({ name }) => {
							const { database } = wanted.shard;
							const of = database === HOST_DATABASE ? ` of ${host.name}` : "";
							return `${database}.${name}${of}`;
						}),
					),
					...withoutOutbox(here, existing),
				];
			}),
		);
		return missing.flat();
	} catch (error) {
		throw operatorError(error);
	}
}

function missingIn(
	{ shard: { database }, tables }: Wanted,
	existing: ReadonlySet<string>,
): readonly MysqlTable[] {
	return tables.filter(({ name }) => !existing.has(`${database}.${name}`));
}

function tablesOfShards(
	model: Model,
	shards: ShardMap["shards"],
	modShards: ShardMap["modShards"],
): readonly Wanted[] {
	const tables = shardTables(model);
	const besideFeed = shardTables(model, "dbBesideFeed");
	const feedTables = shardTables(model, "feed");
	const modTables = MOD_SHARD_TABLES;
	const tablesOf = (number: number) =>
		isFeedShard(number)
			? feedTables
			: shards.has(number + FEED_SHARDS)
				? besideFeed
				: tables;
	return [
		...[...shards.values()].map((shard) => ({
			shard,
			tables: tablesOf(shard.number),
		})),
		...[...modShards.values()].map((shard) => ({ shard, tables: modTables })),
		...[...Map.groupBy(shards.values(), ({ host }) => host).values()].map(
			(some) => ({
				shard: { ...(some[0] as Shard), database: HOST_DATABASE },
				tables: some.some(({ number }) => isFeedShard(number))
					? HOST_TABLES_WITH_FEEDS
					: HOST_TABLES,
				outboxes: some.map(outboxOf),
			}),
		),
	];
}

async function createOnHost(
	host: Host,
	wanted: readonly Wanted[],
	firstIds: ReadonlyMap<string, number>,
	onDone: () => void,
): Promise<void> {
	const existing = await readExisting(host, wanted);
	const waiting = [...wanted];
	const work = async () => {
		for (let next = waiting.shift(); next; next = waiting.shift()) {
			await createOnShard(next, existing, firstIds);
			if (next.shard.database !== HOST_DATABASE) onDone();
		}
	};
	await Promise.all(Array.from({ length: SHARDS_AT_ONCE }, work));
}

/** Whether nothing is missing. Databases that want the same tables are counted together, so a healthy host answers a row for each table of the model, however many shards it has. */
async function hasAll(
	host: Host,
	wanted: readonly Wanted[],
	deadline?: Deadline,
): Promise<boolean> {
	const groups = [...Map.groupBy(wanted, ({ tables }) => tables)];
	const counted = groups.map(([, some]) => {
		const databases = some.map(({ shard }) => shard.database);
		return {
			text: `SELECT table_name, COUNT(*) FROM information_schema.tables
				WHERE table_schema IN (?) GROUP BY table_name`,
			values: [databases],
		};
	});
	const parts = await Promise.all(
		counted.map((part) =>
			host.rows(
				{ name: "count tables", ...part },
				queryOptionsFor(wanted[0], deadline),
			),
		),
	);
	return groups.every(([tables, some], at) => {
		const counts = new Map(
			parts[at]?.map(([name, count]) => [String(name), Number(count)]),
		);
		return tables.every(({ name }) => counts.get(name) === some.length);
	});
}

/** The tables that exist, as `database.table`. */
async function readExisting(
	host: Host,
	wanted: readonly Wanted[],
	deadline?: Deadline,
): Promise<ReadonlySet<string>> {
	const databases = wanted.map(({ shard }) => shard.database);
	const rows = await host.rows(
		{
			name: "tables",
			text: `SELECT table_schema, table_name FROM information_schema.tables
				WHERE table_schema IN (?)`,
			values: [databases],
		},
		queryOptionsFor(wanted[0], deadline),
	);
	return new Set(rows.map((names) => names.join(".")));
}

async function createOnShard(
	wanted: Wanted,
	existing: ReadonlySet<string>,
	firstIds: ReadonlyMap<string, number>,
): Promise<void> {
	const { host, database } = wanted.shard;
	const tables = missingIn(wanted, existing);
	const statements: Sql[] = [];
	const add = (name: string, text: string) =>
		statements.push({ name, text, values: [] });
	if (tables.length > 0) add(`create ${database}`, createDatabase(database));
	for (const table of tables) {
		const names = [`${database}.${table.name}`, ...(wanted.outboxes ?? [])];
		const firstId = Math.max(...names.map((name) => firstIds.get(name) ?? 1));
		add(`create ${table.name}`, createTable(database, table, firstId));
	}
	// The server commits after each: what failed is repeated alone.
	for (const statement of statements) {
		await host.transaction(queryOptionsFor(wanted), async ({ run }) => {
			await run(statement);
			return { value: null, commit: false };
		});
	}
}

function queryOptionsFor(
	wanted: Wanted | undefined,
	deadline = deadlineIn(STEP_MS),
): QueryOptions {
	return {
		shard: wanted?.shard.number ?? 0,
		deadline,
		isPatient: true,
	};
}

/** Tables are created by an operator, who needs to know the host and its error. */
function operatorError(thrown: unknown): unknown {
	if (!(thrown instanceof StorageFailure)) return thrown;
	const { kind, host, statement, errno, message } = thrown;
	const options = { cause: thrown, details: { host, statement, errno } };
	return kind === "unsupported"
		? new CorkboardError("BAD_CONFIG", `${host}: ${message}`, options)
		: new CorkboardError(
				"UNAVAILABLE",
				`${host} could not create the missing tables: ${message}`,
				options,
			);
}
