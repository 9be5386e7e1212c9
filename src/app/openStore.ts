import { openInvalidationChannel } from "../cache/invalidationChannel.ts";
import { openMemcachedCache } from "../cache/memcachedCache.ts";
import { openRedisCache } from "../cache/redisCache.ts";
import type { Config } from "../config.ts";
import { CorkboardError } from "../errors.ts";
import type { Domain } from "../graph/domain.ts";
import { createStore } from "../graph/store/createStore.ts";
import type { SharedCaches, Store } from "../graph/store/store.ts";
import type { CursorCodec } from "../id/cursors.ts";
import type { Model } from "../model/types.ts";
import { openMysqlStorage } from "../storage/mysql/mysqlStorage.ts";
import {
	createReloadableStorage,
	type ReloadableStorage,
} from "../storage/reloadableStorage.ts";
import { lockFolder } from "../storage/sqlite/driver/folderLock.ts";
import { hasShardFiles } from "../storage/sqlite/driver/holdsData.ts";
import { openSqliteStorage } from "../storage/sqlite/sqliteStorage.ts";
import type { Storage } from "../storage/storage.ts";
import { parseHostUrl } from "../topology/hostUrl.ts";
import { generationOf } from "../topology/ranges.ts";
import type { Topology } from "../topology/types.ts";
import { watchTopology } from "../topology/watch.ts";

/**
 * How the data is held:
 *
 * - `own`: to be written. An embedded folder then is this process's alone, and
 *   what is missing in it is made.
 * - `read`: beside those that write. Nothing is kept in memory, which their
 *   writes would not reach.
 */
export type AccessMode = "own" | "read";

/** In-process cache. Bytes, about. */
const CACHE_BYTES = 64 * 1024 * 1024;

/** The shards of a topology, with the caches in front of them; `resources` closes them. */
export async function openStore(
	config: Config,
	access: AccessMode,
	given: {
		readonly model: Model;
		readonly domain: Domain;
		readonly topology: Topology;
		readonly cursors: CursorCodec;
	},
	resources: AsyncDisposableStack,
): Promise<Store> {
	const { storage, current, follow } = await openStorage(
		config,
		access,
		given,
		resources,
	);
	const shared = openSharedCaches(config, current, resources);
	// Without a channel nobody tells this process what others write.
	const isTold = storage.hasSingleWriter || config.redis !== null;
	const store = createStore({
		model: given.model,
		domain: given.domain,
		storage,
		cursors: given.cursors,
		cacheBytes: access === "own" && isTold ? CACHE_BYTES : 0,
		...(shared !== null && { shared: shared.shared }),
	});
	if (access === "own") {
		shared?.listen(store);
		follow(store);
	}
	return store;
}

interface OpenedStorage {
	readonly storage: Storage;
	/** The topology in use. */
	readonly current: () => Topology;
	/** From now on edits of the topology file are taken up. */
	readonly follow: (store: Store) => void;
}

/** Before anything is made or read in the folders of an embedded topology. */
export function lockDataFolders(
	topology: Topology,
	access: AccessMode,
	resources: AsyncDisposableStack,
): void {
	for (const folder of foldersOf(topology)) {
		if (access === "own") resources.use(lockFolder(folder));
		else if (!hasShardFiles(folder)) throw noData(folder);
	}
}

async function openStorage(
	config: Config,
	access: AccessMode,
	{ model, topology }: { readonly model: Model; readonly topology: Topology },
	resources: AsyncDisposableStack,
): Promise<OpenedStorage> {
	if (foldersOf(topology).size === 0) {
		const storage = resources.use(
			await createReloadableStorage(
				(version) =>
					openMysqlStorage({
						model,
						topology: version,
						readOnly: access === "read",
					}),
				topology,
			),
		);
		return {
			storage,
			current: () => storage.topology,
			follow: (store) => followFile(config, storage, store, resources),
		};
	}
	const storage = resources.use(
		await openSqliteStorage({ model, topology, readOnly: access === "read" }),
	);
	if (access === "own") await storage.createTables();
	// A folder's owner cannot hand it over while it lives: its map is read once.
	return { storage, current: () => topology, follow: () => {} };
}

function followFile(
	{ store: from }: Config,
	storage: ReloadableStorage,
	store: Store,
	resources: AsyncDisposableStack,
): void {
	if (from.kind !== "topology") return;
	resources.use(
		watchTopology(from.file, {
			keptCopy: `${from.file}.kept`,
			async onChange(topology) {
				await storage.switchTopology(topology);
				// What was read from a primary that lost its part is not the new one's.
				store.invalidateAll();
			},
		}),
	);
}

/** The layers that processes share; null where there are none. */
function openSharedCaches(
	config: Config,
	current: () => Topology,
	resources: AsyncDisposableStack,
): { readonly shared: SharedCaches; listen(store: Store): void } | null {
	const { memcached, redis } = config;
	if (memcached.length === 0 && redis === null) return null;
	const objects =
		memcached.length === 0
			? null
			: resources.use(openMemcachedCache({ hosts: memcached }));
	const heads =
		redis === null ? null : resources.use(openRedisCache({ url: redis }));
	let listener: Store | undefined;
	const channel =
		redis === null
			? null
			: resources.use(
					openInvalidationChannel({
						url: redis,
						onInvalidations: (keys) => listener?.applyInvalidations(keys),
						onLost: () => listener?.bypass(true),
						onRestored: () => listener?.bypass(false),
					}),
				);
	return {
		shared: {
			objects,
			heads,
			publish: (keys) => void channel?.publish(keys),
			generationOf: (shard) => generationOf(current(), shard),
		},
		listen(store) {
			listener = store;
			// The channel begins lost, and may have said so before anyone listened.
			if (channel !== null) store.bypass(true);
		},
	};
}

function foldersOf({ shards, lookups }: Topology): ReadonlySet<string> {
	return new Set(
		[...shards, ...lookups].flatMap(({ primary }) => {
			const url = parseHostUrl(primary);
			return url?.scheme === "sqlite" ? [url.folder] : [];
		}),
	);
}

function noData(folder: string): CorkboardError {
	return new CorkboardError(
		"BAD_DATA",
		`expected a data folder made by serve, init or import but got: ${folder}, which holds no data`,
	);
}
