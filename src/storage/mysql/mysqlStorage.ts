import type {
	CallOptions,
	StatementTrace,
	WriteTrace,
} from "../../diagnostics.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import type { Mapping, Model } from "../../model/types.ts";
import { openShards } from "../../topology/ranges.ts";
import type { Environment } from "../../topology/secret.ts";
import type { Topology } from "../../topology/types.ts";
import { type Deadline, deadlineIn } from "../../util/deadline.ts";
import { FEED_SHARDS, isFeedShard, shardOfLists } from "../feedShards.ts";
import type { HostReport } from "../hostReport.ts";
import { modShard } from "../modShard.ts";
import { lastPositions, oldestFirst } from "../outboxOrder.ts";
import { checkScan, emptyCount, startCall, unknownShard } from "../portCall.ts";
import type {
	Edge,
	EdgeKey,
	FailedDelivery,
	KeyResult,
	ListCount,
	ListKey,
	ListLength,
	ListRow,
	LookupChange,
	LookupKey,
	LookupRow,
	OutboxKey,
	OutboxPosition,
	OutboxSize,
	PendingEntriesQuery,
	PendingEntry,
	Renumbering,
	RenumberingKey,
	Scan,
	ScanResult,
	Storage,
	StoredEntry,
	StoredObject,
	Transaction,
	TransactionResult,
	UntakenQuery,
} from "../storage.ts";
import { StorageFailure, toStorageError } from "../storageFailure.ts";
import { countLists } from "./countLists.ts";
import { createTables, missingTables, tableNames } from "./createTables.ts";
import type { Host, HostLimits } from "./driver/host.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import { inspectHosts } from "./inspectHosts.ts";
import { walkLists } from "./lists.ts";
import { longestLists } from "./longestLists.ts";
import {
	compareAndSetLookups,
	type LookupCall,
	readLookups,
	walkLookups,
} from "./lookups.ts";
import { readEdges, walkEdges } from "./mappings.ts";
import { MergedReads } from "./mergedReads.ts";
import { ObjectKey, readObjects, typeNamed, walkObjects } from "./objects.ts";
import {
	deleteOutboxEntries,
	outboxSizes,
	pendingEntries,
	readEntries,
	recordFailedDeliveries,
	takeEntries,
	untakenEntries,
	walkOutbox,
} from "./outbox.ts";
import { readRenumberings } from "./renumberings.ts";
import { scanLists } from "./scan.ts";
import {
	type KeyOnShard,
	mapShards,
	only,
	readByHost,
	type Shard,
} from "./shards.ts";
import { SharedHosts } from "./sharedHosts.ts";
import { StandbyReads } from "./standbyReads.ts";
import { prepareSuccessors } from "./successors.ts";
import { TransactionQueue } from "./transactionQueue.ts";

/** Rows of one batch when iterating over a table. */
const WALK_ROWS = 1_000;

/**
 * Most keys of one statement; more keys take several statements side by side.
 * Each part of a UNION ALL costs the server 40 to 90 µs (measured): objects are
 * one part for each table of each shard, and a scan is one on MariaDB.
 */
const OBJECTS = 500;
const SCANS = 100;
const EDGES = 500;
const OUTBOXES = 100;
const ENTRIES = 500;

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
export async function openMysqlStorage(
	options: MysqlOptions,
): Promise<Storage> {
	return new MysqlStorage(options);
}

class MysqlStorage implements Storage {
	readonly shards: readonly number[];
	readonly openShards: readonly number[];
	readonly modShards: number;
	readonly outboxShards: readonly number[];
	readonly hasSingleWriter = false;
	readonly #feeds: ReadonlySet<number>;
	readonly #model: Model;
	readonly #opened: Omit<Parameters<typeof inspectHosts>[0], "map">;
	readonly #limits: MysqlLimits;
	readonly #readOnly: boolean;
	readonly #hosts: SharedHosts;
	#isClosed = false;
	readonly #map: ReturnType<typeof mapShards>;
	readonly #successors: AsyncDisposable;
	readonly #transactions: TransactionQueue;
	readonly #objects: MergedReads<ObjectKey, string | null>;
	readonly #scans: MergedReads<Scan, ScanResult>;
	readonly #standbys: StandbyReads;
	readonly #edges = new MergedReads<EdgeKey, Edge | null>({
		read: readEdges,
		maxKeys: EDGES,
		rowsOf: () => 1,
	});

	constructor({
		model,
		topology,
		readOnly = false,
		limits,
		environment = process.env,
		hosts,
	}: MysqlOptions) {
		this.#model = model;
		this.#opened = {
			model,
			topology,
			environment,
			limits: { ...MYSQL_LIMITS, ...limits },
		};
		this.#limits = { ...MYSQL_LIMITS, ...limits };
		this.#readOnly = readOnly;
		this.#hosts = hosts ?? new SharedHosts(this.#limits, readOnly, environment);
		this.#map = mapShards(topology, this.#hosts);
		this.#successors = prepareSuccessors(topology, this.#hosts);
		this.outboxShards = [...this.#map.shards.keys()];
		this.#feeds = new Set(this.outboxShards.filter(isFeedShard));
		this.shards = this.outboxShards.filter((shard) => !isFeedShard(shard));
		this.openShards = openShards(topology);
		this.modShards = this.#map.modShards.size;
		this.#transactions = new TransactionQueue(model, this.#limits);
		this.#objects = new MergedReads({
			read: (host, keys, options) => readObjects(host, model, keys, options),
			maxKeys: OBJECTS,
			rowsOf: () => 1,
		});
		this.#scans = new MergedReads({
			read: scanLists,
			maxKeys: SCANS,
			rowsOf: ({ limit }) => limit,
		});
		this.#standbys = new StandbyReads({
			...this.#opened,
			map: this.#map,
			scans: this.#scans,
			maxKeys: SCANS,
			// What only reads shards, as commands do, writes no beats.
			topology: readOnly ? { ...topology, feeds: [] } : topology,
		});
	}

	shardOfLists(mapping: Mapping, shard: number): number {
		return mapping.place === undefined
			? shard
			: shardOfLists(mapping, shard, this.#feeds);
	}

	isOnStandby(list: ListKey): boolean {
		if (this.#standbys.isEmpty) return false;
		const shard = this.#shardOfList(list);
		return shard !== undefined && this.#standbys.isSwitched(shard.number);
	}

	canTransactOnBoth(
		shard: number,
		beside: number,
		lists: readonly ListKey[],
	): boolean {
		const { shards } = this.#map;
		const host = shards.get(shard)?.host;
		return (
			host !== undefined &&
			host === shards.get(beside)?.host &&
			this.#transactions.isFree(host, lists)
		);
	}

	hostOf(shard: number): string | null {
		return this.#map.shards.get(shard)?.host.name ?? null;
	}

	hostOfModShard(shard: number): string | null {
		return this.#map.modShards.get(shard)?.host.name ?? null;
	}

	async readObjects(
		ids: readonly Id[],
		call?: CallOptions,
	): Promise<readonly KeyResult<string | null>[]> {
		startCall("readObjects", ids.length, call);
		const keys = ids.map((id) => new ObjectKey(id));
		return readByHost<ObjectKey, string | null>(keys, {
			shardOf: ({ shard }) => this.#map.shards.get(shard),
			absent: () => null,
			maxKeys: OBJECTS,
			read: (host, some) =>
				this.#objects.read(
					host,
					some,
					this.#queryOptions(some[0]?.shard, call),
				),
		});
	}

	async scanLists(
		scans: readonly Scan[],
		call?: CallOptions,
	): Promise<readonly KeyResult<ScanResult>[]> {
		startCall("scanLists", scans.length, call);
		for (const scan of scans) {
			checkScan(scan);
			this.#checkMapping(scan.mapping);
		}
		return readByHost<Scan, ScanResult>(scans, {
			shardOf: (key) => this.#shardOfList(key),
			absent: ({ from }) => ({
				edges: [],
				list: { from, count: 0, lastSequence: 0, epoch: 0 },
			}),
			maxKeys: SCANS,
			read: (host, some) =>
				this.#scan(host, some, this.#queryOptions(some[0]?.shard, call), call),
		});
	}

	async readEdges(
		keys: readonly EdgeKey[],
		call?: CallOptions,
	): Promise<readonly KeyResult<Edge | null>[]> {
		startCall("readEdges", keys.length, call);
		for (const { mapping } of keys) this.#checkMapping(mapping);
		return readByHost<EdgeKey, Edge | null>(keys, {
			shardOf: (key) => this.#shardOfList(key),
			absent: () => null,
			maxKeys: EDGES,
			read: (host, some) =>
				this.#edges.read(host, some, this.#queryOptions(some[0]?.shard, call)),
		});
	}

	async readRenumberings(
		keys: readonly RenumberingKey[],
		call?: CallOptions,
	): Promise<readonly KeyResult<readonly Renumbering[]>[]> {
		startCall("readRenumberings", keys.length, call);
		return readByHost<RenumberingKey, readonly Renumbering[]>(keys, {
			shardOf: (key) => this.#shardOfList(key),
			absent: () => [],
			maxKeys: SCANS,
			read: (host, some) =>
				readRenumberings(host, some, this.#queryOptions(some[0]?.shard, call)),
		});
	}

	async countLists(
		lists: readonly ListKey[],
		call?: CallOptions,
	): Promise<readonly KeyResult<ListCount>[]> {
		startCall("countLists", lists.length, call);
		for (const { mapping } of lists) this.#checkMapping(mapping);
		return readByHost<ListKey, ListCount>(lists, {
			shardOf: (key) => this.#shardOfList(key),
			absent: emptyCount,
			maxKeys: SCANS,
			read: (host, some) =>
				countLists(host, some, this.#queryOptions(some[0]?.shard, call)),
		});
	}

	async longestLists(
		mapping: Mapping,
		shards: readonly number[],
		limit: number,
	): Promise<readonly KeyResult<readonly ListLength[]>[]> {
		startCall("longestLists", shards.length);
		this.#checkMapping(mapping);
		const owner = this.#model.objects.get(mapping.from ?? "")?.number ?? 0;
		return readByHost<number, readonly ListLength[]>(shards, {
			shardOf: (shard) =>
				this.#map.shards.get(this.shardOfLists(mapping, shard)),
			absent: () => [],
			maxKeys: OUTBOXES,
			read: (host, some) =>
				longestLists(
					host,
					mapping,
					owner,
					some.map(({ shard }) => shard),
					limit,
					this.#queryOptions(some[0]?.shard),
				),
		});
	}

	async readLookups(
		keys: readonly LookupKey[],
		call?: CallOptions,
	): Promise<readonly KeyResult<LookupRow | null>[]> {
		startCall("readLookups", keys.length, call);
		return readLookups(keys, this.#lookupCall(call));
	}

	async transact<T>(
		transaction: Transaction<T>,
		trace?: WriteTrace,
	): Promise<TransactionResult<T>> {
		const { lists, objects, edges, neighbors, creates } = transaction;
		const keys = [lists, objects, edges, neighbors, creates];
		startCall(
			"transact",
			keys.reduce((sum, some) => sum + (some?.length ?? 0), 0),
		);
		const shard = this.#shard(transaction.shard);
		this.#checkWritable(shard);
		if (transaction.beside === undefined) {
			return this.#transactions.run({ shard, transaction }, trace);
		}
		const beside = this.#shard(transaction.beside);
		this.#checkWritable(beside);
		if (beside.host !== shard.host) {
			// The topology changed meanwhile.
			throw toStorageError(
				new StorageFailure("conflict", "The shards are on different hosts.", {
					host: shard.host.name,
					statement: "transact",
				}),
				shard.number,
			);
		}
		return this.#transactions.run({ shard, beside, transaction }, trace);
	}

	async compareAndSetLookups(
		changes: readonly LookupChange[],
		trace?: WriteTrace,
	): Promise<readonly KeyResult<LookupRow | null>[]> {
		startCall("compareAndSetLookups", changes.length);
		for (const shard of this.#map.modShards.values()) {
			this.#checkWritable(shard);
		}
		return compareAndSetLookups(changes, this.#lookupCall({}, trace));
	}

	async pendingEntries(
		query: PendingEntriesQuery,
	): Promise<readonly PendingEntry[]> {
		const { olderThanMs, limit, after = [] } = query;
		const { shards = this.outboxShards } = query;
		startCall("pendingEntries", shards.length);
		const now = Date.now() * 1_000;
		const dueBy = query.includeDelayed ? Number.MAX_SAFE_INTEGER : now;
		const writtenBy = now - olderThanMs * 1_000;
		const positions = lastPositions(after);
		const rows: PendingEntry[] = [];
		await readByHost<number, null>(shards, {
			shardOf: (shard) => this.#map.shards.get(shard),
			absent: () => null,
			maxKeys: OUTBOXES,
			read: async (host, some) => {
				const read = await pendingEntries(
					host,
					some.map(({ shard }) => shard),
					{ now: dueBy, writtenBy, limit, after: positions },
					this.#queryOptions(some[0]?.shard),
				);
				rows.push(...read);
				return some.map(() => null);
			},
		});
		return oldestFirst(rows);
	}

	async untakenEntries(
		shards: readonly UntakenQuery[],
		limit: number,
	): Promise<readonly KeyResult<readonly number[]>[]> {
		startCall("untakenEntries", shards.length);
		return readByHost<UntakenQuery, readonly number[]>(shards, {
			shardOf: ({ shard }) => this.#map.shards.get(shard),
			absent: () => [],
			maxKeys: OUTBOXES,
			read: (host, some) =>
				untakenEntries(
					host,
					some.map(({ key: { after }, shard }) => ({ shard, after })),
					limit,
					this.#queryOptions(some[0]?.shard),
				),
		});
	}

	async outboxSizes(
		shards: readonly number[],
		limit: number,
	): Promise<readonly KeyResult<OutboxSize>[]> {
		startCall("outboxSizes", shards.length);
		return readByHost<number, OutboxSize>(shards, {
			shardOf: (shard) => this.#map.shards.get(shard),
			absent: () => ({ entries: 0, oldestAt: null }),
			maxKeys: OUTBOXES,
			read: (host, some) =>
				outboxSizes(
					host,
					some.map(({ shard }) => shard),
					limit,
					this.#queryOptions(some[0]?.shard),
				),
		});
	}

	async readEntries(
		keys: readonly OutboxKey[],
	): Promise<readonly KeyResult<StoredEntry | null>[]> {
		startCall("readEntries", keys.length);
		return readByHost<OutboxKey, StoredEntry | null>(keys, {
			shardOf: ({ shard }) => this.#map.shards.get(shard),
			absent: () => null,
			maxKeys: ENTRIES,
			read: (host, some) =>
				readEntries(host, some, this.#queryOptions(some[0]?.shard)),
		});
	}

	async deleteOutboxEntries(
		keys: readonly OutboxKey[],
		trace?: WriteTrace,
	): Promise<void> {
		startCall("deleteOutboxEntries", keys.length);
		const shards = Map.groupBy(keys, ({ shard }) => this.#shard(shard));
		for (const shard of shards.keys()) this.#checkWritable(shard);
		const hosts = Map.groupBy(shards, ([{ host }]) => host);
		await allSettled(
			[...hosts].map(([host, some]) => {
				const [first] = some[0] as (typeof some)[0];
				const locals = some.map(
					([shard, keys]) => [shard, keys.map(({ local }) => local)] as const,
				);
				return forShard(first, () =>
					deleteOutboxEntries(
						host,
						new Map(locals),
						this.#queryOptions(first, {}, trace),
					),
				);
			}),
		);
	}

	async takeEntries(
		entries: readonly OutboxPosition[],
		until: number,
		trace?: WriteTrace,
	): Promise<readonly OutboxKey[]> {
		startCall("takeEntries", entries.length);
		const taken: OutboxKey[] = [];
		const shards = Map.groupBy(entries, ({ shard }) => this.#shard(shard));
		for (const shard of shards.keys()) this.#checkWritable(shard);
		await Promise.allSettled(
			[...shards].map(async ([shard, some]) => {
				const options = this.#queryOptions(shard, {}, trace);
				taken.push(...(await takeEntries(shard, some, until, options)));
			}),
		);
		return taken;
	}

	async recordFailedDeliveries(
		failures: readonly FailedDelivery[],
		trace?: WriteTrace,
	): Promise<void> {
		startCall("recordFailedDeliveries", failures.length);
		await this.#writeByShard(failures, (shard, some) =>
			recordFailedDeliveries(shard, some, this.#queryOptions(shard, {}, trace)),
		);
	}

	inspectHosts(deadline?: Deadline): Promise<readonly HostReport[]> {
		return inspectHosts({ ...this.#opened, map: this.#map }, deadline);
	}

	async missingTables(shards?: readonly number[]): Promise<readonly string[]> {
		const wanted = shards?.flatMap((shard) => [shard, shard + FEED_SHARDS]);
		const map = wanted === undefined ? this.#map : only(wanted, this.#map);
		startCall("missingTables", map.shards.size + map.modShards.size);
		return missingTables(this.#model, map);
	}

	tables(): readonly string[] {
		return tableNames(this.#model, this.#map);
	}

	async createTables(
		progress?: (done: number, total: number) => void,
		firstIds?: ReadonlyMap<string, number>,
	): Promise<void> {
		startCall("createTables", this.#map.shards.size + this.#map.modShards.size);
		for (const shard of this.#map.shards.values()) this.#checkWritable(shard);
		await createTables(this.#model, this.#map, progress, firstIds);
	}

	walkObjects(
		shard: number,
		type: string,
	): AsyncIterable<readonly StoredObject[]> {
		const object = typeNamed(this.#model, type);
		const location = this.#shard(shard);
		return walk<StoredObject>("walkObjects", location, (last) =>
			walkObjects(
				location,
				object,
				last === null ? 0 : unpackId(last.id).local,
				WALK_ROWS,
				this.#queryOptions(location),
			),
		);
	}

	walkEdges(
		shard: number,
		mapping: Mapping,
		after: Pick<Edge, "from" | "to"> | null = null,
	): AsyncIterable<readonly Edge[]> {
		const location = this.#shard(shard);
		this.#checkMapping(mapping);
		return walk<Edge>("walkEdges", location, (last) =>
			walkEdges(
				location,
				mapping,
				last ?? after,
				WALK_ROWS,
				this.#queryOptions(location),
			),
		);
	}

	walkLists(
		shard: number,
		mapping: Mapping,
		after: Id | null = null,
	): AsyncIterable<readonly ListRow[]> {
		const location = this.#shard(shard);
		return walk<ListRow>("walkLists", location, (last) =>
			walkLists(
				location,
				mapping,
				last?.from ?? after,
				WALK_ROWS,
				this.#queryOptions(location),
			),
		);
	}

	walkOutbox(number: number): AsyncIterable<readonly PendingEntry[]> {
		const shard = this.#shard(number);
		return walk<PendingEntry>("walkOutbox", shard, (last) =>
			walkOutbox(shard, last?.local ?? 0, WALK_ROWS, this.#queryOptions(shard)),
		);
	}

	walkLookups(shard: number): AsyncIterable<readonly LookupRow[]> {
		const location = this.#map.modShards.get(shard);
		if (location === undefined) throw unknownShard("mod shard", shard);
		return walk<LookupRow>("walkLookups", location, (last) =>
			walkLookups(location, last, WALK_ROWS, this.#queryOptions(location)),
		);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		if (this.#isClosed) return;
		this.#isClosed = true;
		await this.#standbys[Symbol.asyncDispose]();
		await Promise.all(
			this.#map.hosts.map((host) => this.#hosts.giveBack(host)),
		);
		await this.#successors[Symbol.asyncDispose]();
	}

	#queryOptions(
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

	#lookupCall(call?: CallOptions, trace?: WriteTrace): LookupCall {
		return {
			shardOf: (key) => this.#map.modShards.get(modShard(key, this.modShards)),
			queryOptions: (shard) => ({
				...this.#queryOptions(shard, call, trace),
				onModShard: true,
			}),
		};
	}

	/** Write to the shards of the keys side by side; rejects after all have ended. */
	async #writeByShard<Key extends OutboxKey>(
		keys: readonly Key[],
		write: (shard: Shard, some: readonly Key[]) => Promise<void>,
	): Promise<void> {
		const shards = Map.groupBy(keys, ({ shard }) => this.#shard(shard));
		for (const shard of shards.keys()) this.#checkWritable(shard);
		await allSettled(
			[...shards].map(([shard, some]) =>
				forShard(shard, () => write(shard, some)),
			),
		);
	}

	/** Pages that may be stale can come from a standby, where there is one. */
	async #scan(
		host: Host,
		scans: readonly KeyOnShard<Scan>[],
		options: QueryOptions,
		call: CallOptions | undefined,
	): Promise<readonly ScanResult[]> {
		const mayBeStale = ({ key, shard }: KeyOnShard<Scan>) =>
			key.mayBeStale === true && this.#standbys.has(shard.number);
		if (this.#standbys.isEmpty || !scans.some(mayBeStale)) {
			return this.#scans.read(host, scans, options);
		}
		const results = new Map<KeyOnShard<Scan>, ScanResult>();
		const read = async (
			some: readonly KeyOnShard<Scan>[],
			reading: Promise<readonly ScanResult[]>,
		) => {
			for (const [at, result] of (await reading).entries()) {
				results.set(some[at] as KeyOnShard<Scan>, result);
			}
		};
		const pages = scans.filter(mayBeStale);
		const others = scans.filter((scan) => !mayBeStale(scan));
		await Promise.all([
			read(pages, this.#standbys.scan(host, pages, options, call?.trace)),
			others.length > 0 &&
				read(others, this.#scans.read(host, others, options)),
		]);
		return scans.map((scan) => results.get(scan) as ScanResult);
	}

	#shardOfList({ mapping, from }: ListKey): Shard | undefined {
		const { shard } = unpackId(from);
		return this.#map.shards.get(this.shardOfLists(mapping, shard));
	}

	#shard(number: number): Shard {
		const shard = this.#map.shards.get(number);
		if (shard === undefined) throw unknownShard("shard", number);
		return shard;
	}

	#checkWritable({ host }: Shard): void {
		if (!this.#readOnly) return;
		throw new TypeError(
			`${host.name} was opened read-only and takes no writes.`,
		);
	}

	#checkMapping({ name }: Mapping): void {
		if (this.#model.mappings.has(name)) return;
		throw new TypeError(`The model has no mapping ${name}.`);
	}
}

/** Reads batch after batch until one is not full. */
async function* walk<Row>(
	verb: string,
	shard: Shard,
	next: (last: Row | null) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
	let last: Row | null = null;
	startCall(verb, 1);
	for (;;) {
		const from: Row | null = last;
		const rows: readonly Row[] = await forShard(shard, () => next(from));
		if (rows.length > 0) yield rows;
		if (rows.length < WALK_ROWS) return;
		last = rows.at(-1) ?? null;
	}
}

/** Rejects after all have ended, as the first that rejected. */
async function allSettled(all: readonly Promise<void>[]): Promise<void> {
	for (const result of await Promise.allSettled(all)) {
		if (result.status === "rejected") throw result.reason;
	}
}

async function forShard<T>(shard: Shard, body: () => Promise<T>): Promise<T> {
	try {
		return await body();
	} catch (thrown) {
		throw thrown instanceof StorageFailure
			? toStorageError(thrown, shard.number)
			: thrown;
	}
}
