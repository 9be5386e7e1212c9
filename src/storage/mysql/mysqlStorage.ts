import type { Id } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import type { Environment } from "../../topology/secret.ts";
import type { Topology } from "../../topology/types.ts";
import type { CallOptions, StatementTrace } from "../../trace.ts";
import { deadlineIn } from "../../util/deadline.ts";
import type { Driver } from "../driver.ts";
import { FEED_SHARDS } from "../feedShards.ts";
import { readOnlyError, startCall } from "../portCall.ts";
import { Router } from "../router.ts";
import type { Edge, EdgeKey, ListKey, Scan, ScanResult } from "../rows.ts";
import { type Procedure, run } from "../statements/batch.ts";
import type { Select, Write } from "../statements/dialect.ts";
import type { CommonKind } from "../statements/reads.ts";
import { SqlDriver } from "../statements/sqlDriver.ts";
import type { OpenedStorage, StorageAdmin } from "../storage.ts";
import { createTables, missingTables, tableNames } from "./createTables.ts";
import { MYSQL, runEach, selectAll, sqlOf } from "./dialect.ts";
import type { Host, HostLimits } from "./driver/host.ts";
import type { WriteResult } from "./driver/mysql2Connection.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import { reportTableCaches } from "./driver/serverLimits.ts";
import { inspectHosts, settingsOfHosts } from "./inspectHosts.ts";
import { MergedReads } from "./mergedReads.ts";
import { scanListsOnHost } from "./scan.ts";
import {
	mapShards,
	only,
	prepareSuccessors,
	type Shard,
	type ShardMap,
} from "./shards.ts";
import { type HostLease, SharedHosts } from "./sharedHosts.ts";
import { StandbyReads } from "./standbyReads.ts";
import { TransactionQueue } from "./transactions/transactionQueue.ts";

/**
 * Most keys of one statement; more keys take several statements side by side.
 * Each part of a UNION ALL costs the server 40 to 90 µs (measured): objects are
 * one part for each table of each shard, and a scan is one on MariaDB.
 */
const OBJECTS = 500;
const SCANS = 100;
const EDGES = 500;
const MAX_KEYS: Readonly<Record<CommonKind | "entries", number>> = {
	objects: OBJECTS,
	edges: EDGES,
	renumberings: SCANS,
	counts: SCANS,
	longestLists: SCANS,
	lookups: 500,
	entries: 500,
};

export interface MysqlLimits extends HostLimits {
	/** Time for a transaction once it has its rows, with all retries: less than `silenceMs`. Milliseconds. */
	readonly writeMs: number;
	/** How long a transaction waits in this process for its rows: as long as a request takes. Milliseconds. */
	readonly rowsMs: number;
	/** Most transactions of this process that wait for their lists. */
	readonly maxQueued: number;
	/** While a transaction runs on a host, those that come wait for its end, at most so long, and go together then. Milliseconds. */
	readonly gatherMs: number;
}

export const MYSQL_LIMITS: MysqlLimits = {
	connections: 10,
	maxWaiting: 1_000,
	connectMs: 4_000,
	readMs: 10_000,
	writeMs: 7_000,
	rowsMs: 10_000,
	silenceMs: 8_000,
	maxQueued: 10_000,
	gatherMs: 10,
};

/** How long a host that is not known to be slow has for the answer to a read. Milliseconds. */
export const ANSWER_MS = 4_000;

interface MysqlOptions {
	readonly model: Model;
	readonly topology: Topology;
	readonly readOnly?: boolean;
	readonly limits?: Partial<MysqlLimits>;
	/** For URLs that name variables (default: that of the process). */
	readonly environment?: Environment;
	/** Those of several versions of a topology (default: its own). They have their own limits. */
	readonly hosts?: SharedHosts;
}

/**
 * Storage on MySQL 8.0.19 and MariaDB 10.11, or later: each shard is a database
 * `db00000`, each mod shard a database `mod00000`, on the host its range names.
 * Nothing is opened before it is needed. With `readOnly` nothing is written.
 */
export async function openMysqlStorage({
	model,
	topology,
	...options
}: MysqlOptions): Promise<OpenedStorage> {
	return new Router(model, topology, new MysqlDriver(model, topology, options));
}

class MysqlDriver
	extends SqlDriver<Shard, QueryOptions>
	implements Driver<Shard>
{
	readonly hasSingleWriter = false;
	readonly readOnly: boolean;
	readonly locations: ShardMap;
	readonly reads: Driver<Shard>["reads"];
	readonly transact: Driver<Shard>["transact"];
	readonly admin: StorageAdmin;
	readonly #limits: MysqlLimits;
	readonly #hosts: HostLease;
	readonly #transactions: TransactionQueue;
	readonly #standbys: StandbyReads;
	readonly #tableCaches: Disposable;

	constructor(
		model: Model,
		topology: Topology,
		{
			readOnly = false,
			limits,
			environment = process.env,
			hosts,
		}: Omit<MysqlOptions, "model" | "topology">,
	) {
		super(model, MYSQL);
		this.readOnly = readOnly;
		const answerMs = limits?.readMs ?? ANSWER_MS;
		this.#limits = { ...MYSQL_LIMITS, answerMs, ...limits };
		const shared =
			hosts ?? new SharedHosts(this.#limits, readOnly, environment);
		const { map, lease } = shared.lease((lease) => {
			const map = mapShards(topology, lease);
			prepareSuccessors(topology, lease);
			return { map, lease };
		});
		this.#hosts = lease;
		this.locations = map;
		this.#tableCaches = reportTableCaches(map.hosts);
		this.#transactions = new TransactionQueue(model, this.#limits);
		this.transact = this.#transactions.run;
		const opened = { model, topology, environment, limits: this.#limits, map };
		const scans = new MergedReads<Scan, ScanResult>({
			read: scanListsOnHost,
			maxKeys: SCANS,
			rowsOf: ({ limit }) => limit,
		});
		this.#standbys = new StandbyReads({
			...opened,
			scans,
			maxKeys: SCANS,
			// What only reads shards, as commands do, writes no beats.
			topology: readOnly ? { ...topology, feeds: [] } : topology,
		});
		this.reads = this.#readsOf(scans);
		this.admin = this.#adminOf(model, opened);
	}

	isOnStandby(shard: number): boolean {
		return this.#standbys.isSwitched(shard);
	}

	canTransactOnBoth(
		{ host }: Shard,
		_: Shard,
		lists: readonly ListKey[],
	): boolean {
		return this.#transactions.isFree(host, lists);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#tableCaches[Symbol.dispose]();
		await this.#standbys[Symbol.asyncDispose]();
		await this.#hosts[Symbol.asyncDispose]();
	}

	#readsOf(scans: MergedReads<Scan, ScanResult>): Driver<Shard>["reads"] {
		const objects = new MergedReads<Id, string | null>({
			read: async (host, keys, options) =>
				this.readKeys("objects", host, keys, options),
			maxKeys: OBJECTS,
			rowsOf: () => 1,
		});
		const edges = new MergedReads<EdgeKey, Edge | null>({
			read: async (host, keys, options) =>
				this.readKeys("edges", host, keys, options),
			maxKeys: EDGES,
			rowsOf: () => 1,
		});
		return {
			...this.commonReads((kind) => MAX_KEYS[kind]),
			objects: this.readBy(OBJECTS, objects),
			lists: this.#standbys.isEmpty
				? this.readBy(SCANS, scans)
				: {
						maxKeys: SCANS,
						read: (host, some, call) =>
							this.#standbys.read(
								host,
								some,
								this.optionsOf(some[0]?.shard, call),
								call?.trace,
							),
					},
			edges: this.readBy(EDGES, edges),
		};
	}

	protected select<Result>(
		host: Host,
		selects: readonly Select<Result>[],
		options: QueryOptions,
	): Promise<readonly (readonly Result[])[]> {
		return selectAll(host, selects, options);
	}

	protected perform<Result>(
		{ host }: Shard,
		procedure: Procedure<Shard, Result>,
		options: QueryOptions,
	): Promise<Result> {
		return run(procedure, (batch) => runEach(host, batch, options));
	}

	protected async write(
		{ host }: Shard,
		writes: readonly Write[],
		options: QueryOptions,
	): Promise<readonly number[]> {
		const statements = writes.map(sqlOf);
		const [only] = statements;
		const results =
			statements.length === 1 && only !== undefined
				? [await host.run(only, options)]
				: await host.runTogether(statements, options);
		return results.map((result) => (result as WriteResult).affectedRows);
	}

	#adminOf(
		model: Model,
		opened: Parameters<typeof inspectHosts>[0],
	): StorageAdmin {
		const { locations } = this;
		return {
			inspectHosts: (deadline) => inspectHosts(opened, deadline),
			settings: () => settingsOfHosts(opened),
			async missingTables(shards) {
				const wanted = shards?.flatMap((shard) => [shard, shard + FEED_SHARDS]);
				const map = wanted === undefined ? locations : only(wanted, locations);
				startCall("missingTables", map.shards.size + map.modShards.size);
				return missingTables(model, map);
			},
			tables: () => tableNames(model, locations),
			createTables: async (progress, firstIds) => {
				startCall(
					"createTables",
					locations.shards.size + locations.modShards.size,
				);
				for (const { host } of locations.shards.values()) {
					if (this.readOnly) throw readOnlyError(host.name);
				}
				await createTables(model, locations, progress, firstIds);
			},
		};
	}

	protected optionsOf(
		shard: Shard | undefined,
		call: CallOptions = {},
		trace: StatementTrace | undefined = call.trace,
	): QueryOptions {
		return {
			shard: shard?.number ?? 0,
			deadline: deadlineIn(this.#limits.readMs, call.signal),
			trace,
			...(call.decides && { decides: true }),
			...(shard &&
				this.locations.modShards.get(shard.number) === shard && {
					onModShard: true,
				}),
		};
	}
}
