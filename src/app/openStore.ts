import {
	LOCAL_CACHE_LEVELS,
	SHARED_CACHE_LEVELS,
} from "../cache/diagnostics.ts";
import { INVALIDATED_MAX_AGE_MS } from "../cache/entryAges.ts";
import { CorkboardError } from "../errors.ts";
import { FRESHNESS_CHANNELS } from "../freshness/diagnostics.ts";
import { OutboxReader } from "../freshness/outboxReader.ts";
import { OutboxWatch } from "../freshness/outboxWatch.ts";
import type { ProcessCaches } from "../freshness/processCaches.ts";
import type { SharedCaches } from "../freshness/sharedCaches.ts";
import { markingUnpublishedWrites } from "../freshness/unpublishedWrites.ts";
import type { Domain } from "../graph/domain.ts";
import { OUTBOX_LEVELS } from "../graph/outbox/diagnostics.ts";
import { OutboxLevels } from "../graph/outbox/outboxLevels.ts";
import type { JobQueue, WriteEvents } from "../graph/store/jobQueue.ts";
import { followStops, stoppedShards } from "../graph/store/stoppedShards.ts";
import { Store } from "../graph/store/store.ts";
import type { CursorCodec } from "../id/cursorCodec.ts";
import type { Model } from "../model/types.ts";
import { giveGraphId } from "../ops/graphId.ts";
import { createTables, recordInFolders } from "../ops/madeTables.ts";
import {
	MYSQL_LIMITS,
	type MysqlLimits,
	openMysqlStorage,
} from "../storage/mysql/mysqlStorage.ts";
import { SharedHosts } from "../storage/mysql/sharedHosts.ts";
import { lockFolder } from "../storage/sqlite/driver/folderLock.ts";
import { hasShardFiles } from "../storage/sqlite/driver/hasShardFiles.ts";
import { openSqliteStorage } from "../storage/sqlite/sqliteStorage.ts";
import type {
	OpenedStorage,
	Storage,
	StorageAdmin,
} from "../storage/storage.ts";
import {
	createReloadableStorage,
	type ReloadableStorage,
} from "../storage/versions/reloadableStorage.ts";
import type { TopologyFollower } from "../storage/versions/topologyVersion.ts";
import { changedShards, dataFoldersOf } from "../topology/ranges.ts";
import type { Topology } from "../topology/types.ts";
import {
	type CacheHooks,
	type Listener,
	OpenedSharedCaches,
	type SharedCacheOptions,
} from "./openedSharedCaches.ts";
import type { TopologySource } from "./openTopology.ts";

/**
 * How the data is opened:
 *
 * - `readWrite`: an embedded folder belongs to this process alone, and missing
 *   tables in it are created.
 * - `readOnly`: beside processes that write. The process caches nothing, because
 *   their writes would not invalidate it.
 */
export type AccessMode = "readWrite" | "readOnly";

/** Between two looks for the tables of shards that were opened without them. Milliseconds. */
const TABLES_MS = 5_000;

interface OpenStoreOptions extends SharedCacheOptions {
	readonly model: Model;
	readonly domain: Domain;
	readonly topology: TopologySource;
	readonly cursors: CursorCodec;
	readonly access: AccessMode;
	/** Bytes of objects, heads and lookups that the process keeps, approximately; 0: none. */
	readonly cacheBytes: number;
	/** Null: writes enqueue no jobs. */
	readonly jobQueue?: JobQueue | null;
	/** Null: writes enqueue no jobs but those of the graph itself. */
	readonly writeEvents?: WriteEvents | null;
	/** What else switches to newer versions of the topology, once the shards are those of it. */
	readonly beside?: readonly TopologyFollower[];
	readonly hooks?: StoreHooks;
}

/** What tests replace parts by, or put between them. */
interface StoreHooks extends CacheHooks {
	readonly mysqlLimits?: Partial<MysqlLimits>;
	readonly now?: () => number;
	wrapStorage?(storage: Storage): Storage;
	wrapStore?(store: Store): Store;
}

/** The shards of a topology with the caches in front of them. `resources` closes them. */
export async function openStore(
	options: OpenStoreOptions,
	resources: AsyncDisposableStack,
): Promise<{
	readonly store: Store;
	readonly admin: StorageAdmin;
	readonly outboxes: OutboxReader;
}> {
	const {
		model,
		domain,
		topology,
		cursors,
		access,
		redis,
		jobQueue = null,
		writeEvents = null,
		hooks = {},
	} = options;
	const { storage, currentTopology, follow } = await openStorage(
		options,
		resources,
	);
	const caches = await OpenedSharedCaches.open(options, resources);
	const shared = caches?.sharedCaches(
		currentTopology,
		stoppedShards(topology, storage, model),
	);
	// Without the channel, writes of other processes would not invalidate this one's cache.
	const isInvalidated = storage.map.hasSingleWriter || redis !== null;
	const cacheBytes =
		access === "readWrite" && isInvalidated ? options.cacheBytes : 0;
	let watch: OutboxWatch | null = null;
	const wrapped = hooks.wrapStorage?.(storage) ?? storage;
	const created = new Store({
		model,
		domain,
		storage:
			storage.map.hasSingleWriter || redis !== null || access === "readOnly"
				? wrapped
				: markingUnpublishedWrites(wrapped),
		cursors,
		cacheBytes,
		...(caches?.isPublished && { maxAgeMs: INVALIDATED_MAX_AGE_MS }),
		// Nobody else changes what it caches.
		...(storage.map.hasSingleWriter && { maxAgeMs: Number.POSITIVE_INFINITY }),
		...(caches !== null && {
			...(shared && { shared }),
			isOverdue: () => caches.isOverdue() || (watch?.isOverdue ?? false),
			async untilProven() {
				await caches.untilProven();
				if (watch?.isOverdue) watch.check();
			},
		}),
		...(jobQueue !== null && { jobQueue }),
		...(writeEvents !== null && { writeEvents }),
		...(hooks.now && { now: hooks.now }),
	});
	resources.use(created.outboxDeletions);
	// Ended before those: it adds to them.
	resources.use(created.jobs?.deliveries);
	resources.use(reportingLevels(created, shared));
	const store = hooks.wrapStore?.(created) ?? created;
	const outboxes = new OutboxReader(store.storage);
	if (access === "readWrite") {
		// Nobody but the only writer changes what it caches.
		watch =
			caches?.isPublished && cacheBytes > 0 && !storage.map.hasSingleWriter
				? resources.use(
						new OutboxWatch(store, outboxes, {
							onBypass: (shards) =>
								FRESHNESS_CHANNELS.unreadOutboxes.publish({ shards }),
						}),
					)
				: null;
		caches?.listen(
			watch === null ? store.caches : listenerOf(store.caches, watch),
			() => watch?.check(),
		);
		followStops(store, topology);
	}
	// A store that is read for long, as by verify, reads shards where they are.
	const beside = options.beside ?? [];
	follow(store, topology, caches === null ? beside : [...beside, caches]);
	resources.use(outboxes);
	return { store, admin: storage.admin, outboxes };
}

/** While invalidations are not received, outboxes say what changed. */
function listenerOf(caches: ProcessCaches, watch: OutboxWatch): Listener {
	return {
		applyInvalidations: (keys) => caches.applyInvalidations(keys),
		invalidateChannels: (channels) => caches.invalidateChannels(channels),
		bypass: (channels, on) => watch.lose(channels, on),
	};
}

/** Locks the folders of an embedded topology for writing; call it before anything in them is created or read. */
export function lockDataFolders(
	topology: Topology,
	access: AccessMode,
	resources: AsyncDisposableStack,
): void {
	for (const folder of dataFoldersOf(topology)) {
		if (access === "readWrite") resources.use(lockFolder(folder));
		else if (!hasShardFiles(folder)) throw noData(folder);
	}
}

/** Makes the tables that folders of SQLite files lack; lock the folders before. */
export function createFolderTables(
	admin: StorageAdmin,
	topology: Topology,
	hasTopologyStore: boolean,
): Promise<void> {
	return createTables(admin, recordInFolders(dataFoldersOf(topology)), {
		// The shards of an embedded folder are made together.
		mayBeNew: hasTopologyStore,
	});
}

interface FollowingStorage {
	readonly storage: OpenedStorage;
	readonly currentTopology: () => Topology;
	/** From now on newer versions of the topology are applied. */
	readonly follow: (
		store: Store,
		source: TopologySource,
		beside: readonly TopologyFollower[],
	) => void;
}

async function openStorage(
	{ model, topology: source, access, hooks = {} }: OpenStoreOptions,
	resources: AsyncDisposableStack,
): Promise<FollowingStorage> {
	const { topology } = source;
	const readOnly = access === "readOnly";
	if (dataFoldersOf(topology).size === 0) {
		const limits = { ...MYSQL_LIMITS, ...hooks.mysqlLimits };
		const guard = readOnly ? null : source.writeGuard;
		const hosts = new SharedHosts(limits, readOnly, process.env, guard);
		const open = (version: Topology) =>
			openMysqlStorage({ model, topology: version, readOnly, limits, hosts });
		const storage = resources.use(
			await createReloadableStorage(
				open,
				topology,
				// A process that only reads creates nothing.
				{ tablesMs: readOnly ? null : TABLES_MS },
				() => source.oldestChanged(),
			),
		);
		return {
			storage,
			currentTopology: () => storage.topology,
			follow: (store, source, beside) =>
				followTopology(source, storage, store, beside),
		};
	}
	const storage = resources.use(
		await openSqliteStorage({ model, topology, readOnly }),
	);
	if (!readOnly) {
		await createFolderTables(storage.admin, topology, source.store !== null);
		// If it cannot, what cannot be read or written says so where it is used.
		await giveGraphId(storage).catch(() => {});
	}
	// The owner of a folder cannot hand it over while it runs, so its topology stays.
	return { storage, currentTopology: () => topology, follow: () => {} };
}

function followTopology(
	source: TopologySource,
	storage: ReloadableStorage,
	store: Store,
	beside: readonly TopologyFollower[],
): void {
	source.follow(
		async (topology) => {
			const former = storage.topology;
			await storage.switchTopology(topology);
			// Values read from a former primary may not be the new primary's.
			store.caches.invalidateShards(changedShards(former, topology));
			for (const one of beside) one.switchTopology(topology);
		},
		() =>
			Math.min(
				storage.oldestVersion,
				...beside.map(({ oldestVersion }) => oldestVersion),
			),
	);
}

function reportingLevels(
	store: Store,
	shared: SharedCaches | undefined,
): Disposable {
	const { storage } = store;
	const outboxes = new OutboxLevels(storage);
	const reported = new DisposableStack();
	reported.use(LOCAL_CACHE_LEVELS.add(() => store.caches.levels()));
	reported.use(OUTBOX_LEVELS.add(() => outboxes.levels()));
	for (const cache of [shared?.objects, shared?.heads]) {
		if (cache) reported.use(SHARED_CACHE_LEVELS.add(() => cache.levels()));
	}
	return reported;
}

function noData(folder: string): CorkboardError {
	return new CorkboardError(
		"BAD_DATA",
		`${folder} holds no data. Run serve, init or import first.`,
	);
}
