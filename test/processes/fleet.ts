import { openStore } from "../../src/app/openStore.ts";
import {
	fixedTopology,
	type TopologySource,
} from "../../src/app/openTopology.ts";
import { RedisServers } from "../../src/cache/redis/redisServers.ts";
import type { SharedCache } from "../../src/cache/sharedCache.ts";
import { CorkboardError } from "../../src/errors.ts";
import type { CacheAgreement } from "../../src/freshness/cacheAgreement.ts";
import { View } from "../../src/graph/read/view.ts";
import { createJobQueue } from "../../src/graph/store/createJobQueue.ts";
import type { Head } from "../../src/graph/store/head.ts";
import type { JobQueue } from "../../src/graph/store/jobQueue.ts";
import type { Store } from "../../src/graph/store/store.ts";
import { createWrites } from "../../src/graph/write/createWrites.ts";
import { createCursorCodec } from "../../src/id/cursorCodec.ts";
import type { Id } from "../../src/id/ids.ts";
import type { Mapping } from "../../src/model/types.ts";
import { Jobs } from "../../src/queue/enqueue/jobs.ts";
import { LocalHints } from "../../src/queue/hints.ts";
import type { JobAdmin, JobStore } from "../../src/queue/jobStore.ts";
import { openJobStoreOf } from "../../src/queue/openJobStore.ts";
import {
	type MysqlLimits,
	openMysqlStorage,
} from "../../src/storage/mysql/mysqlStorage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { Topology } from "../../src/topology/types.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { theModel } from "../helpers/model.ts";
import { readsWith, storageWith } from "../helpers/storageWith.ts";
import { startMysql } from "../services/mysql.ts";
import type { Server } from "../services/server.ts";
import type { Filling } from "../services/sql.ts";
import { startServices } from "../services/startServices.ts";
import { Pauses } from "./pauses.ts";

/** Real servers, and the addresses by which a process finds them; these go to other processes as JSON. */
export interface Fleet extends AsyncDisposable {
	readonly mysql: readonly Server[];
	readonly memcached: Server;
	readonly redis: Server;
	readonly addresses: Addresses;
}

export interface Addresses {
	readonly topology: Topology;
	/** Each as `host:port`. */
	readonly memcached: readonly string[];
	readonly redis: string;
}

/** Deadline of tests that are not about deadlines, long enough for a busy machine. Milliseconds. */
export const PATIENT_MS = 3_000;

/**
 * Starts the given number of MySQL servers with two shards and two mod shards each, all tables created, a memcached and a Redis.
 * `apart`: for processes the two shards of a server are on different hosts, since they know it by two names.
 */
export async function startFleet({
	mysql = 1,
	apart = false,
} = {}): Promise<Fleet> {
	await using stack = new AsyncDisposableStack();
	const starting = [
		startServices({ mysql: mysql - 1, memcached: 1, redis: 1 }),
		startMysql({ filling: TABLES }),
	] as const;
	// Waited for also where one fails, so that the others are stopped.
	for (const outcome of await Promise.allSettled(starting)) {
		if (outcome.status === "fulfilled") stack.use(outcome.value);
	}
	const [services, first] = await Promise.all(starting);
	const [memcached, redis] = [services.memcached[0], services.redis[0]];
	if (memcached === undefined || redis === undefined) {
		throw new Error("expected a memcached and a Redis");
	}
	const servers = [first, ...services.mysql];
	const addresses: Addresses = {
		topology: topologyOf(
			servers.map(({ url }) => url),
			apart,
		),
		memcached: [memcached.address],
		redis: redis.url,
	};
	if (mysql > 1) await createTables(addresses.topology);
	const owned = stack.move();
	return {
		mysql: servers,
		memcached,
		redis,
		addresses,
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

/** The tables of the first server of a fleet. */
const TABLES: Filling = {
	name: "mysql-of-processes",
	fill: ({ url }) => createTables(topologyOf([url])),
};

async function createTables(topology: Topology): Promise<void> {
	const { model } = theModel();
	await using storage = await openMysqlStorage({ model, topology });
	await storage.admin.createTables();
}

/** Two shards a host, all open. */
export function topologyOf(
	primaries: readonly string[],
	apart = false,
): Topology {
	const ranges = primaries.flatMap((primary, n) =>
		apart
			? [
					{ range: [2 * n, 2 * n] as const, primary },
					{
						range: [2 * n + 1, 2 * n + 1] as const,
						primary: primary.replace("127.0.0.1", "localhost"),
					},
				]
			: [{ range: [2 * n, 2 * n + 1] as const, primary }],
	);
	return {
		version: 1,
		shards: ranges.map((range) => ({ ...range, open: true })),
		lookups: ranges,
	};
}

/** Addresses of a process that reaches the second MySQL server, with shards 2 and 3, through this port. */
export function behindPort({ addresses, mysql }: Fleet, port: number) {
	const [first, second] = mysql.map(({ url }) => new URL(url));
	if (second !== undefined) second.port = String(port);
	return {
		...addresses,
		topology: topologyOf([first?.href ?? "", second?.href ?? ""]),
	};
}

/** The shared cache layers, as they are or with a naive variant. */
export interface Layers {
	readonly objects: SharedCache;
	readonly heads: SharedCache;
}

export interface ProcessOptions {
	/** 0 turns the cache in the process off. */
	readonly cacheBytes?: number;
	/** Whether it sends invalidations to the other processes and applies theirs. */
	readonly channel?: boolean;
	readonly cacheDeadlineMs?: number;
	/** Reaches memcached through a link at this port. */
	readonly memcachedPort?: number;
	/** False: it is configured without one. */
	readonly redis?: boolean;
	/** Reaches Redis through a link at this port. */
	readonly redisPort?: number;
	/** A map that may change, and names its caches. */
	readonly source?: TopologySource;
	/** Without one, it does not compare its caches with those of others. */
	readonly cacheAgreement?: CacheAgreement;
	readonly limits?: Partial<MysqlLimits>;
	readonly now?: () => number;
	readonly overrides?: {
		readonly layers?: (layers: Layers) => Layers;
		readonly storage?: (storage: Storage) => Storage;
		readonly store?: (store: Store) => Store;
		/** Whether invalidations of other processes arrive. */
		readonly hears?: () => boolean;
	};
}

/** What one process of the program opens (src/app/openStore.ts), with steps to hold it at. */
export interface Process extends AsyncDisposable {
	readonly store: Store;
	readonly storage: Storage;
	readonly pauses: Pauses;
	/** The queue of the topology; null if that has none. */
	readonly queue: {
		readonly store: JobStore & JobAdmin;
		readonly jobs: Jobs;
	} | null;
	readonly writes: ReturnType<typeof createWrites>;
	/** Events of the invalidation channel; `lost` is the first. */
	readonly news: readonly ("lost" | "restored")[];
	view(viewer?: Id | null): View;
	mapping(name: string): Mapping;
	/** Reads the list's head as a request does. */
	head(mapping: string, from: Id): Promise<Head>;
	/** An object's content, or null if it does not exist. */
	object(id: Id): Promise<JsonObject | null>;
	make(type: string, data: JsonObject): Promise<Id>;
}

export async function openProcess(
	{ topology, memcached, redis }: Addresses,
	options: ProcessOptions = {},
): Promise<Process> {
	const { overrides = {}, cacheDeadlineMs = PATIENT_MS } = options;
	const { model, domain } = theModel();
	const pauses = new Pauses();
	const channelEvents: ("lost" | "restored")[] = [];
	await using stack = new AsyncDisposableStack();
	let storage: Storage | undefined;
	const queue = openQueue(topology, stack);
	const { store } = await openStore(
		{
			model,
			domain,
			topology: options.source ?? {
				...fixedTopology(topology),
				cacheAgreement: options.cacheAgreement ?? null,
			},
			cursors: createCursorCodec(Buffer.alloc(32, 1)),
			access: "readWrite",
			cacheBytes: options.cacheBytes ?? 10_000_000,
			memcached,
			redis:
				options.redis === false
					? null
					: options.source !== undefined
						? new RedisServers(redis || null, topology.caches)
						: new RedisServers(atPort(redis, options.redisPort)),
			...(queue && {
				jobQueue: queueWithPauses(
					createJobQueue(queue.jobs, queue.store),
					pauses,
				),
			}),
			hooks: {
				invalidations: options.channel ?? false,
				cacheDeadlineMs,
				...(options.limits && { mysqlLimits: options.limits }),
				...(options.now && { now: options.now }),
				...(options.memcachedPort !== undefined && {
					memcachedAddress: () => `127.0.0.1:${options.memcachedPort}`,
				}),
				wrapStorage(opened) {
					storage = withPauses(opened, pauses);
					return overrides.storage?.(storage) ?? storage;
				},
				wrapCaches({ objects, heads }) {
					if (objects === null || heads === null) {
						if (options.redis === false) return { objects, heads };
						throw new TypeError("expected a memcached and a Redis");
					}
					const layers = overrides.layers?.({ objects, heads }) ?? {
						objects,
						heads,
					};
					return {
						objects: cacheWithPauses(layers.objects, pauses),
						heads: cacheWithPauses(layers.heads, pauses),
					};
				},
				wrapStore: (opened) => overrides.store?.(opened) ?? opened,
				receivesInvalidations: () => overrides.hears?.() ?? true,
				onChannel: (event) => channelEvents.push(event),
			},
		},
		stack,
	);
	if (storage === undefined) throw new TypeError("expected storage");
	const resources = stack.move();
	const mapping = (name: string) => {
		const found = model.mappings.get(name);
		if (found === undefined) throw new TypeError(`no mapping ${name}`);
		return found;
	};
	return {
		store,
		storage,
		pauses,
		queue,
		news: channelEvents,
		writes: createWrites(store),
		view: (viewer = null) => new View(store, viewer),
		mapping,
		async head(name, from) {
			const [head] = await store.readHeads(
				[{ mapping: mapping(name), from }],
				20,
			);
			if (head === undefined || head instanceof CorkboardError) throw head;
			return head;
		},
		async object(id) {
			const [object] = await store.readObjects([id]);
			if (object instanceof CorkboardError) throw object;
			return object?.node?.data ?? null;
		},
		make: (type, data) => createWrites(store).create({ type, data }),
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

function openQueue(
	{ queues = [] }: Topology,
	resources: AsyncDisposableStack,
): Process["queue"] {
	if (queues.length === 0) return null;
	const store = resources.use(openJobStoreOf({ queues }));
	return { store, jobs: new Jobs(store, new LocalHints(), null) };
}

function queueWithPauses(queue: JobQueue, pauses: Pauses): JobQueue {
	return {
		...queue,
		async enqueue(jobs, isRepeat) {
			await pauses.at("enqueuing jobs");
			const results = await queue.enqueue(jobs, isRepeat);
			await pauses.at("enqueued jobs");
			return results;
		},
	};
}

function atPort(redis: string, port: number | undefined): string {
	const url = new URL(redis);
	if (port !== undefined) url.port = String(port);
	return url.href;
}

function withPauses(storage: Storage, pauses: Pauses): Storage {
	return storageWith(storage, {
		read: readsWith(storage, {
			async objects(ids, call) {
				const answers = await storage.read("objects", ids, call);
				await pauses.at("objects read");
				return answers;
			},
			async lists(scans, call) {
				const answers = await storage.read("lists", scans, call);
				await pauses.at("heads read");
				return answers;
			},
		}),
		async transact(transaction, trace) {
			await pauses.at("transacting");
			const done = await storage.transact(
				{
					...transaction,
					decide(reads) {
						const decision = transaction.decide(reads);
						pauses.pass("decided");
						return decision;
					},
				},
				trace,
			);
			await pauses.at("committed");
			return done;
		},
		async compareAndSetLookups(changes, trace) {
			await pauses.at("changing lookups");
			const rows = await storage.compareAndSetLookups(changes, trace);
			await pauses.at("changed lookups");
			return rows;
		},
	});
}

/**
 * Storage whose outboxes look empty to the process, so that it learns of a
 * change by a message alone. With them it learns of it three seconds after
 * COMMIT, and a busy machine is as slow as that between two lines of a test.
 */
export function withoutUntaken(storage: Storage): Storage {
	const read = readsWith(storage, {
		outboxes: (looks) =>
			storage.read(
				"outboxes",
				looks.map((look) => ({ ...look, untaken: null })),
			),
	});
	return storageWith(storage, { read });
}

function cacheWithPauses(cache: SharedCache, pauses: Pauses): SharedCache {
	const { layer } = cache;
	return {
		...cache,
		async fill(fills) {
			await pauses.at(`filling ${layer}`);
			await cache.fill(fills);
			await pauses.at(`filled ${layer}`);
		},
		async delete(keys) {
			// What is sent after it is sent behind it.
			const step = `deleting ${layer}`;
			if (pauses.holds(step)) await pauses.at(step);
			return cache.delete(keys);
		},
	};
}
