import {
	memcachedIdentity,
	openMemcachedCache,
} from "../cache/memcached/memcachedCache.ts";
import { openRedisCache } from "../cache/redis/redisCache.ts";
import type { RedisServers } from "../cache/redis/redisServers.ts";
import { type ServerRef, serverLists, spread } from "../cache/serverList.ts";
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
	/** `host:port` of each memcached of the settings; none: objects are in no shared cache, but where the map names one. */
	readonly memcached: readonly string[];
	/** Those of the map, or that of the settings; null: heads of lists are in no shared cache, and processes do not invalidate each other's caches. */
	readonly redis: RedisServers | null;
	readonly hooks?: CacheHooks;
}

/** What tests put in the place of parts, or between them. */
export interface CacheHooks {
	/** False: the process neither publishes nor receives invalidations. */
	readonly invalidations?: boolean;
	readonly cacheDeadlineMs?: number;
	/** The address to connect to for a memcached host. */
	readonly memcachedAddress?: (host: string) => string;
	wrapCaches?(caches: CacheLayers): CacheLayers;
	/** Whether a message of another process arrives that names changed keys. */
	receivesInvalidations?(): boolean;
	onChannel?(state: "lost" | "restored"): void;
}

/** The caches that processes share, by what they hold. */
export interface CacheLayers {
	readonly objects: SharedCache | null;
	readonly heads: SharedCache | null;
}

/** What learns of invalidations. */
export type Listener = Pick<
	ProcessCaches,
	"applyInvalidations" | "bypass" | "invalidateChannels"
>;

/** The caches that processes share, as they are opened. */
export interface OpenedSharedCaches extends TopologyFollower {
	readonly shared: SharedCaches;
	/** Whether processes publish what they change. */
	readonly isPublished: boolean;
	isOverdue(): boolean;
	untilProven(): Promise<void>;
	/** `onBeat` is called before each question whether all that was published is received. */
	listen(caches: Listener, onBeat: () => void): void;
}

/** Null where there are none. */
export async function openSharedCaches(
	options: SharedCacheOptions,
	currentTopology: () => Topology,
	/** Whether a failover of the shard's host lost what caches may hold. */
	isStopped: (shard: number, mapping?: string) => boolean,
	resources: AsyncDisposableStack,
): Promise<OpenedSharedCaches | null> {
	const { model, topology, redis, hooks = {} } = options;
	const { cacheAgreement: agreement } = topology;
	const layers = openLayers(options, resources);
	if (layers.objects === null && redis === null) return null;
	let listener: Listener | undefined;
	/** As long as nobody listens, too: the agreement is waited for. */
	const lost = new Set(ALL_CHANNELS);
	let beforeBeat = () => {};
	const channel =
		redis === null || hooks.invalidations === false
			? null
			: resources.use(
					openInvalidationChannel({
						homesOf: homesIn(redis),
						...(agreement && {
							gateOf: (each) => agreement.gate(redis.partOf(each)),
						}),
						receives: () => hooks.receivesInvalidations?.() ?? true,
						onBeat: () => beforeBeat(),
						onInvalidations: (keys) => listener?.applyInvalidations(keys),
						onMissed: (channels) => listener?.invalidateChannels(channels),
						onLost(channels) {
							hooks.onChannel?.("lost");
							for (const channel of channels) lost.add(channel);
							listener?.bypass(channels, true);
						},
						onRestored(channels) {
							hooks.onChannel?.("restored");
							for (const channel of channels) lost.delete(channel);
							listener?.bypass(channels, false);
						},
					}),
				);
	const following = followCaches(options, layers, channel);
	await agreement?.begin(
		() => following.spokenTo,
		() => channel?.update(),
		() => following.version,
	);
	if (redis !== null) redis.onIdentified = () => void agreement?.check();
	const given = hooks.wrapCaches?.(layers) ?? layers;
	return {
		shared: {
			objects: given.objects,
			heads: given.heads,
			publish: async (keys) => channel === null || channel.publish(keys),
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
		},
		switchTopology: following.switchTopology,
		get oldestVersion() {
			return following.oldestVersion;
		},
		isPublished: channel !== null,
		isOverdue: () =>
			channel !== null &&
			(channel.isOverdue || (agreement?.isOverdue ?? false)),
		async untilProven() {
			await Promise.all([channel?.untilProven(), agreement?.untilProven()]);
		},
		listen(caches, onBeat) {
			listener = caches;
			beforeBeat = onBeat;
			if (channel !== null && lost.size > 0) caches.bypass(new Set(lost), true);
		},
	};
}

/** A channel is at the Redis of each list in use. */
function homesIn(redis: RedisServers): ChannelHomes {
	const lists = redis.lists.filter(({ servers }) => servers.length > 0);
	const homes = lists.map((list) => spread(list, ALL_CHANNELS.size));
	return (channel) => [
		...new Set(homes.map((ids) => redis.at(ids[channel] ?? ""))),
	];
}

/** Takes the caches over to newer versions of the map. */
function followCaches(
	{ memcached, redis, topology: source }: SharedCacheOptions,
	{ objects, heads }: OpenedLayers,
	channel: InvalidationChannel | null,
): TopologyFollower & {
	readonly version: number;
	readonly spokenTo: SpokenTo;
} {
	const settings = { memcached, redis: null };
	let { version } = source.topology;
	let spokenTo = serversOf(source.topology);
	let isStuck = false;

	/** What it announces; a Redis may become another one at any time. */
	function serversOf({ caches }: Topology): SpokenTo {
		const [now] = serverLists(caches, settings, "objects");
		const isOfSettings = now?.changed === null && now.servers.length > 0;
		const spoken = isOfSettings
			? { objects: memcachedIdentity(memcached) }
			: {};
		for (const { id, part } of redis?.refs ?? []) {
			const get = () => redis?.at(id).runId ?? null;
			if (part !== null) {
				Object.defineProperty(spoken, part, { enumerable: true, get });
			}
		}
		return spoken;
	}

	return {
		get version() {
			return version;
		},
		get spokenTo() {
			return spokenTo;
		},
		/** A process without a cache that others begin to use has to be started again: whoever waits for its version sees that. */
		get oldestVersion() {
			return isStuck ? version : Number.POSITIVE_INFINITY;
		},
		switchTopology(topology) {
			const { caches } = topology;
			const ofObjects = serverLists(caches, settings, "objects");
			isStuck =
				(redis === null && caches !== undefined) ||
				(objects === null && ofObjects.some((list) => list.servers.length > 0));
			if (isStuck) return;
			version = topology.version;
			if (caches !== undefined && redis !== null) {
				redis.use(caches);
				heads?.use(redis.lists);
				objects?.use(ofObjects);
				spokenTo = serversOf(topology);
				channel?.use(homesIn(redis));
			} else channel?.update();
		},
	};
}

interface OpenedLayers extends CacheLayers {
	readonly objects: PlacedCache | null;
	readonly heads: PlacedCache | null;
}

function openLayers(
	{ topology: source, memcached, redis, hooks = {} }: SharedCacheOptions,
	resources: AsyncDisposableStack,
): OpenedLayers {
	const { cacheAgreement: agreement, topology } = source;
	const settings = { memcached, redis: null };
	const lists = serverLists(topology.caches, settings, "objects");
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
						...{ hosts: memcached, lists },
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
