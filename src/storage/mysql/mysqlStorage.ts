import type { Id } from "../../id/ids.ts";
import type { Model } from "../../model/types.ts";
import type { Environment } from "../../topology/secret.ts";
import type { Topology } from "../../topology/types.ts";
import type { CallOptions, StatementTrace, WriteTrace } from "../../trace.ts";
import { deadlineIn } from "../../util/deadline.ts";
import type { Driver, HostRead, PendingQuery } from "../driver.ts";
import { FEED_SHARDS } from "../feedShards.ts";
import { readOnlyError, startCall } from "../portCall.ts";
import { OUTBOXES, Router } from "../router.ts";
import { type CommonKind, pendingEntries } from "../statements/reads.ts";
import { WALKS } from "../statements/walks.ts";
import type {
	Edge,
	EdgeKey,
	FailedDelivery,
	KeyResult,
	ListKey,
	LookupChange,
	LookupRow,
	OpenedStorage,
	OutboxKey,
	OutboxPosition,
	PendingEntry,
	ReadKey,
	ReadKind,
	ReadResult,
	Scan,
	ScanResult,
	StorageAdmin,
	Transaction,
	TransactionResult,
	WalkKind,
	WalkOf,
	WalkRow,
} from "../storage.ts";
import { createTables, missingTables, tableNames } from "./createTables.ts";
import { MYSQL, readCommon, selectAll } from "./dialect.ts";
import type { Host, HostLimits } from "./driver/host.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import { reportTableCaches } from "./driver/serverLimits.ts";
import { inspectHosts, settingsOfHosts } from "./inspectHosts.ts";
import { compareAndSetLookups } from "./lookups.ts";
import { MergedReads } from "./mergedReads.ts";
import {
	deleteOutboxEntries,
	recordFailedDeliveries,
	takeEntries,
} from "./outbox.ts";
import { scanLists } from "./scan.ts";
import {
	type KeyOnShard,
	mapShards,
	only,
	type Shard,
	type ShardMap,
} from "./shards.ts";
import { SharedHosts } from "./sharedHosts.ts";
import { StandbyReads } from "./standbyReads.ts";
import { prepareSuccessors } from "./successors.ts";
import { TransactionQueue } from "./transactionQueue.ts";

/**
 * Most keys of one statement; more keys take several statements side by side.
 * Each part of a UNION ALL costs the server 40 to 90 µs (measured): objects are
 * one part for each table of each shard, and a scan is one on MariaDB.
 */
const OBJECTS = 500;
const SCANS = 100;
const EDGES = 500;
const ENTRIES = 500;
const LOOKUPS = 500;

export interface MysqlLimits extends HostLimits {
	/** Time for a transaction, with all its waits and retries. Milliseconds. */
	readonly writeMs: number;
	/** Most transactions of this process that wait for their lists. */
	readonly maxQueued: number;
}

export const MYSQL_LIMITS: MysqlLimits = {
	connections: 10,
	maxWaiting: 1_000,
	connectMs: 1_000,
	readMs: 2_000,
	writeMs: 5_000,
	silenceMs: 8_000,
	maxQueued: 10_000,
};

export interface MysqlOptions {
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

class MysqlDriver implements Driver<Shard> {
	readonly hasSingleWriter = false;
	readonly readOnly: boolean;
	readonly places: ShardMap;
	readonly reads: Driver<Shard>["reads"];
	readonly #model: Model;
	readonly admin: StorageAdmin;
	readonly #limits: MysqlLimits;
	readonly #hosts: SharedHosts;
	readonly #successors: AsyncDisposable;
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
		this.readOnly = readOnly;
		this.#limits = { ...MYSQL_LIMITS, ...limits };
		this.#hosts = hosts ?? new SharedHosts(this.#limits, readOnly, environment);
		const map = mapShards(topology, this.#hosts);
		this.places = map;
		this.#tableCaches = reportTableCaches(map.hosts);
		this.#successors = prepareSuccessors(topology, this.#hosts);
		this.#transactions = new TransactionQueue(model, this.#limits);
		const opened = { model, topology, environment, limits: this.#limits, map };
		const scans = new MergedReads<Scan, ScanResult>({
			read: scanLists,
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
		this.reads = this.#readsOf(model, scans);
		this.#model = model;
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

	transact<T>(
		shard: Shard,
		beside: Shard | undefined,
		transaction: Transaction<T>,
		trace: WriteTrace | undefined,
	): Promise<TransactionResult<T>> {
		return this.#transactions.run(
			{ shard, ...(beside && { beside }), transaction },
			trace,
		);
	}

	compareAndSetLookups(
		host: Host,
		some: readonly KeyOnShard<LookupChange>[],
		trace: WriteTrace | undefined,
	): Promise<readonly KeyResult<LookupRow | null>[]> {
		return compareAndSetLookups(this.#model, host, some, (shard) => ({
			...this.#options(shard, {}, trace),
			onModShard: true,
		}));
	}

	async pendingEntries(
		host: Host,
		shards: readonly Shard[],
		query: PendingQuery,
	): Promise<readonly PendingEntry[]> {
		const selects = shards.map((shard) => pendingEntries(MYSQL, shard, query));
		const rows = await selectAll(host, selects, this.#options(shards[0]));
		return rows.flat();
	}

	takeEntries(
		shard: Shard,
		entries: readonly OutboxPosition[],
		until: number,
		trace: WriteTrace | undefined,
	): Promise<readonly OutboxKey[]> {
		return takeEntries(shard, entries, until, this.#options(shard, {}, trace));
	}

	recordFailedDeliveries(
		shard: Shard,
		failures: readonly FailedDelivery[],
		trace: WriteTrace | undefined,
	): Promise<void> {
		return recordFailedDeliveries(
			shard,
			failures,
			this.#options(shard, {}, trace),
		);
	}

	deleteOutboxEntries(
		host: Host,
		entries: ReadonlyMap<Shard, readonly number[]>,
		trace: WriteTrace | undefined,
	): Promise<void> {
		const [first] = entries.keys();
		return deleteOutboxEntries(host, entries, this.#options(first, {}, trace));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#tableCaches[Symbol.dispose]();
		await this.#standbys[Symbol.asyncDispose]();
		await Promise.all(
			this.places.hosts.map((host) => this.#hosts.giveBack(host)),
		);
		await this.#successors[Symbol.asyncDispose]();
	}

	#readsOf(
		model: Model,
		scans: MergedReads<Scan, ScanResult>,
	): Driver<Shard>["reads"] {
		const objects = new MergedReads<Id, string | null>({
			read: (host, keys, options) =>
				readCommon("objects", model, host, keys, options),
			maxKeys: OBJECTS,
			rowsOf: () => 1,
		});
		const edges = new MergedReads<EdgeKey, Edge | null>({
			read: (host, keys, options) =>
				readCommon("edges", model, host, keys, options),
			maxKeys: EDGES,
			rowsOf: () => 1,
		});
		const kind = <K extends ReadKind>(
			maxKeys: number,
			reader: {
				read(
					host: Host,
					some: readonly KeyOnShard<ReadKey<K>>[],
					options: QueryOptions,
				): Promise<readonly ReadResult<K>[]>;
			},
		): HostRead<K, Shard> => ({
			maxKeys,
			read: (host, some, call) =>
				reader.read(host, some, this.#options(some[0]?.shard, call)),
		});
		const common = <K extends CommonKind>(maxKeys: number, name: K) =>
			kind<K>(maxKeys, {
				read: (host, some, options) =>
					readCommon(name, model, host, some, options),
			});
		return {
			objects: kind(OBJECTS, objects),
			lists: this.#standbys.isEmpty
				? kind(SCANS, scans)
				: {
						maxKeys: SCANS,
						read: (host, some, call) =>
							this.#standbys.read(
								host,
								some,
								this.#options(some[0]?.shard, call),
								call?.trace,
							),
					},
			edges: kind(EDGES, edges),
			renumberings: common(SCANS, "renumberings"),
			counts: common(SCANS, "counts"),
			longestLists: common(OUTBOXES, "longestLists"),
			lookups: kind(LOOKUPS, {
				read: (host, some, options) =>
					readCommon("lookups", model, host, some, {
						...options,
						onModShard: true,
					}),
			}),
			entries: common(ENTRIES, "entries"),
			untakenEntries: common(OUTBOXES, "untakenEntries"),
			outboxSizes: common(OUTBOXES, "outboxSizes"),
		};
	}

	async walk<K extends WalkKind>(
		kind: K,
		shard: Shard,
		of: WalkOf<K>,
		last: WalkRow<K> | null,
		limit: number,
	): Promise<readonly WalkRow<K>[]> {
		const select = WALKS[kind](MYSQL, this.#model, shard, of, last, limit);
		const options = this.#options(shard);
		const [rows = []] = await selectAll(shard.host, [select], options);
		return rows;
	}

	#adminOf(
		model: Model,
		opened: Parameters<typeof inspectHosts>[0],
	): StorageAdmin {
		const { places } = this;
		return {
			inspectHosts: (deadline) => inspectHosts(opened, deadline),
			settings: () => settingsOfHosts(opened),
			async missingTables(shards) {
				const wanted = shards?.flatMap((shard) => [shard, shard + FEED_SHARDS]);
				const map = wanted === undefined ? places : only(wanted, places);
				startCall("missingTables", map.shards.size + map.modShards.size);
				return missingTables(model, map);
			},
			tables: () => tableNames(model, places),
			createTables: async (progress, firstIds) => {
				startCall("createTables", places.shards.size + places.modShards.size);
				for (const { host } of places.shards.values()) {
					if (this.readOnly) throw readOnlyError(host.name);
				}
				await createTables(model, places, progress, firstIds);
			},
		};
	}

	#options(
		shard: Shard | undefined,
		call: CallOptions = {},
		trace: StatementTrace | undefined = call.trace,
	): QueryOptions {
		return {
			shard: shard?.number ?? 0,
			deadline: deadlineIn(this.#limits.readMs, call.signal),
			trace,
			...(call.decides && { decides: true }),
		};
	}
}
