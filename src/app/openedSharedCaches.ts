import {
	memcachedIdentity,
	openMemcachedCache,
} from "../cache/memcached/memcachedCache.ts";
import { openRedisCache } from "../cache/redis/redisCache.ts";
import type { RedisConnections } from "../cache/redis/redisConnections.ts";
import type { RedisServers } from "../cache/redis/redisServers.ts";
import {
	type ServerList,
	type ServerRef,
	serverLists,
	spread,
} from "../cache/serverList.ts";
import type { PlacedCache, SharedCache } from "../cache/sharedCache.ts";
import { ALL_CHANNELS } from "../cache/slotVersions.ts";
import {
	type ChannelHomes,
	type InvalidationChannel,
	openInvalidationChannel,
} from "../freshness/channel/invalidationChannel.ts";
import type { ProcessCaches } from "../freshness/processCaches.ts";
import type { SharedCaches } from "../freshness/sharedCaches.ts";
import type { Model } from "../model/types.ts";
import type { TopologyFollower } from "../storage/versions/topologyVersion.ts";
import type { SpokenTo } from "../topology/members.ts";
import { feedGenerationOf, generationOf } from "../topology/ranges.ts";
import type { Topology } from "../topology/types.ts";
import type { TopologySource } from "./openTopology.ts";

export interface SharedCacheOptions {
	readonly model: Model;
	readonly topology: TopologySource;
	/** `host:port` of each memcached of the settings; none: objects are in no shared cache, unless the map names one. */
	readonly memcached: readonly string[];
	/** Those of the map, or that of the settings; null: heads of lists are in no shared cache, and processes do not invalidate each other's caches. */
	readonly redis: RedisServers | null;
	readonly hooks?: CacheHooks;
}

/** What tests replace parts by, or put between them. */
export interface CacheHooks {
	/** False: the process neither publishes nor receives invalidations. */
	readonly invalidations?: boolean;
	readonly cacheDeadlineMs?: number;
	/** The address to connect to for a memcached host. */
	readonly memcachedAddress?: (host: string) => string;
	/** Their `delete` sends before it returns. */
	wrapCaches?(caches: CacheLayers): CacheLayers;
	/** Whether a message of another process arrives that names changed keys. */
	receivesInvalidations?(): boolean;
	onChannel?(state: "lost" | "restored"): void;
}

/** The caches that processes share, by what they hold. */
interface CacheLayers {
	readonly objects: SharedCache | null;
	readonly heads: SharedCache | null;
}

/** What learns of invalidations. */
export type Listener = Pick<
	ProcessCaches,
	"applyInvalidations" | "bypass" | "invalidateChannels"
>;

/**
 * The caches that processes share, and the channels by which these publish
 * what they change. It begins without a listener: until it has one, it notes which
 * channels are lost.
 */
export class OpenedSharedCaches implements TopologyFollower {
	readonly #options: SharedCacheOptions;
	readonly #layers: OpenedLayers;
	/** What processes publish to each other by; null: they do not. */
	readonly #channel: InvalidationChannel | null;
	readonly #lost = new Set(ALL_CHANNELS);
	#listener: Listener | null = null;
	#beforeBeat = () => {};
	/** The version of the map in use. */
	#version: number;
	/** The memcached of the settings, if the map names no other. */
	#objects: string | null;
	/** The Redis of each part that the map names. */
	#lists: ReadonlyMap<string, RedisConnections>;
	#isStuck = false;

	/** Null if there are none. Resolves when the processes agree on the servers, or the store does not say. */
	static async open(
		options: SharedCacheOptions,
		resources: AsyncDisposableStack,
	): Promise<OpenedSharedCaches | null> {
		const { topology, redis } = options;
		const layers = openLayers(options, resources);
		if (layers.objects === null && redis === null) return null;
		const opened = new OpenedSharedCaches(options, layers, resources);
		const agreement = topology.cacheAgreement;
		await agreement?.begin(
			() => opened.#spokenTo(),
			() => opened.#channel?.update(),
			() => opened.#version,
		);
		if (redis !== null) redis.onIdentified = () => void agreement?.check();
		return opened;
	}

	private constructor(
		options: SharedCacheOptions,
		layers: OpenedLayers,
		resources: AsyncDisposableStack,
	) {
		const { topology, redis, hooks } = options;
		this.#options = options;
		this.#layers = layers;
		this.#version = topology.topology.version;
		this.#objects = memcachedOfSettings(options, topology.topology);
		this.#lists = redisByPart(redis);
		this.#channel =
			redis === null || hooks?.invalidations === false
				? null
				: resources.use(this.#openChannel(redis));
	}

	/** What a store reads and writes. */
	sharedCaches(
		currentTopology: () => Topology,
		/** Whether a failover of the shard's host lost what caches may hold. */
		isStopped: (shard: number, mapping?: string) => boolean,
	): SharedCaches {
		const { model, hooks, redis } = this.#options;
		const channel = this.#channel;
		const layers = hooks?.wrapCaches?.(this.#layers) ?? this.#layers;
		return {
			objects: layers.objects,
			heads: layers.heads,
			publish: async (keys) => channel === null || channel.publish(keys),
			publishBehindDeletes: () =>
				channel !== null && redis?.refs.length === 1
					? channel.publishNow
					: null,
			untilPublished: async (keys, ms) =>
				channel === null || channel.untilPublished(keys, ms),
			generationOf(shard, mapping) {
				const generation =
					model.mappings.get(mapping ?? "")?.place === "FEEDS"
						? feedGenerationOf(currentTopology(), shard)
						: generationOf(currentTopology(), shard);
				// Until the loss is accepted, which raises the generation.
				return isStopped(shard, mapping) ? `${generation}s` : generation;
			},
		};
	}

	/** Whether processes publish what they change. */
	get isPublished(): boolean {
		return this.#channel !== null;
	}

	isOverdue(): boolean {
		const { cacheAgreement } = this.#options.topology;
		return (
			this.#channel !== null &&
			(this.#channel.isOverdue || (cacheAgreement?.isOverdue ?? false))
		);
	}

	async untilProven(): Promise<void> {
		const { cacheAgreement } = this.#options.topology;
		await Promise.all([
			this.#channel?.untilProven(),
			cacheAgreement?.untilProven(),
		]);
	}

	/** `onBeat` is called before each question whether all that was published is received. */
	listen(listener: Listener, onBeat: () => void): void {
		this.#listener = listener;
		this.#beforeBeat = onBeat;
		if (this.#channel !== null && this.#lost.size > 0) {
			listener.bypass(new Set(this.#lost), true);
		}
	}

	/** A process without a cache that others begin to use has to be started again. A command that waits for its version shows that. */
	get oldestVersion(): number {
		return this.#isStuck ? this.#version : Number.POSITIVE_INFINITY;
	}

	switchTopology(topology: Topology): void {
		const { redis } = this.#options;
		const { objects, heads } = this.#layers;
		const { caches } = topology;
		const ofObjects = objectLists(this.#options, topology);
		this.#isStuck =
			(redis === null && caches !== undefined) ||
			(objects === null && ofObjects.some((list) => list.servers.length > 0));
		if (this.#isStuck) return;
		this.#version = topology.version;
		if (caches === undefined || redis === null) {
			this.#channel?.update();
			return;
		}
		redis.use(caches);
		heads?.use(redis.lists);
		objects?.use(ofObjects);
		this.#objects = memcachedOfSettings(this.#options, topology);
		this.#lists = redisByPart(redis);
		this.#channel?.use(homesIn(redis));
	}

	#openChannel(redis: RedisServers): InvalidationChannel {
		const { topology, hooks } = this.#options;
		const { cacheAgreement: agreement } = topology;
		return openInvalidationChannel({
			homesOf: homesIn(redis),
			...(agreement && {
				gateOf: (each) => agreement.gate(redis.partOf(each)),
			}),
			receives: () => hooks?.receivesInvalidations?.() ?? true,
			onBeat: () => this.#beforeBeat(),
			onInvalidations: (keys) => this.#listener?.applyInvalidations(keys),
			onMissed: (channels) => this.#listener?.invalidateChannels(channels),
			onLost: (channels) => {
				hooks?.onChannel?.("lost");
				for (const channel of channels) this.#lost.add(channel);
				this.#listener?.bypass(channels, true);
			},
			onRestored: (channels) => {
				hooks?.onChannel?.("restored");
				for (const channel of channels) this.#lost.delete(channel);
				this.#listener?.bypass(channels, false);
			},
		});
	}

	/** What this process announces to the others. A Redis may become another one at any time. */
	#spokenTo(): SpokenTo {
		const spoken: Record<string, string | null> = {};
		if (this.#objects !== null) spoken.objects = this.#objects;
		for (const [part, { runId }] of this.#lists) spoken[part] = runId;
		return spoken;
	}
}

function redisByPart(
	redis: RedisServers | null,
): ReadonlyMap<string, RedisConnections> {
	const byPart = new Map<string, RedisConnections>();
	if (redis === null) return byPart;
	for (const { id, part } of redis.refs) {
		if (part !== null) byPart.set(part, redis.at(id));
	}
	return byPart;
}

/** What processes compare of the memcached of the settings. Null if there is none, or the map names others. */
function memcachedOfSettings(
	options: SharedCacheOptions,
	topology: Topology,
): string | null {
	const [now] = objectLists(options, topology);
	return now?.changed === null && now.servers.length > 0
		? memcachedIdentity(options.memcached)
		: null;
}

/** The servers of objects: those of the map, or those of the settings. */
function objectLists(
	{ memcached }: SharedCacheOptions,
	{ caches }: Topology,
): readonly ServerList[] {
	return serverLists(caches, { memcached, redis: null }, "objects");
}

/** A channel is at the Redis of each list in use. */
function homesIn(redis: RedisServers): ChannelHomes {
	const lists = redis.lists.filter(({ servers }) => servers.length > 0);
	const homes = lists.map((list) => spread(list, ALL_CHANNELS.size));
	return (channel) => [
		...new Set(homes.map((ids) => redis.at(ids[channel] ?? ""))),
	];
}

interface OpenedLayers extends CacheLayers {
	readonly objects: PlacedCache | null;
	readonly heads: PlacedCache | null;
}

function openLayers(
	options: SharedCacheOptions,
	resources: AsyncDisposableStack,
): OpenedLayers {
	const { topology: source, memcached, redis, hooks = {} } = options;
	const { cacheAgreement: agreement, topology } = source;
	const lists = objectLists(options, topology);
	const common = {
		...(agreement && {
			gateOf: ({ part }: ServerRef) => agreement.gate(part),
		}),
		...(hooks.cacheDeadlineMs !== undefined && {
			deadlineMs: hooks.cacheDeadlineMs,
		}),
	};
	const { memcachedAddress: connectTo } = hooks;
	return {
		objects: lists.some(({ servers }) => servers.length > 0)
			? resources.use(
					openMemcachedCache({
						...common,
						hosts: memcached,
						lists,
						...(connectTo && { connectTo }),
					}),
				)
			: null,
		heads:
			redis === null
				? null
				: resources.use(openRedisCache({ redis, ...common })),
	};
}
