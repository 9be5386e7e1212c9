import {
	memcachedIdentity,
	openMemcachedCache,
} from "../cache/memcached/memcachedCache.ts";
import { openRedisCache } from "../cache/redis/redisCache.ts";
import type { RedisConnections } from "../cache/redis/redisConnections.ts";
import type { SharedCache } from "../cache/sharedCache.ts";
import { ALL_CHANNELS } from "../cache/slotVersions.ts";
import { agreedCache } from "../freshness/cacheAgreement.ts";
import { openInvalidationChannel } from "../freshness/invalidationChannel.ts";
import type { SharedCaches } from "../freshness/sharedCaches.ts";
import type { Store } from "../graph/store/store.ts";
import type { Model } from "../model/types.ts";
import type { CachePart } from "../topology/members.ts";
import { feedGenerationOf, generationOf } from "../topology/ranges.ts";
import type { Topology } from "../topology/types.ts";
import type { TopologySource } from "./openTopology.ts";

export interface SharedCacheOptions {
	readonly model: Model;
	readonly topology: TopologySource;
	/** `host:port` of each memcached; none: objects are in no shared cache. */
	readonly memcached: readonly string[];
	/** null: heads of lists are in no shared cache, and processes do not invalidate each other's caches. */
	readonly redis: RedisConnections | null;
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
	Store,
	"applyInvalidations" | "bypass" | "invalidateAll" | "invalidateChannels"
>;

/** The caches that processes share; null where there are none. */
export async function openSharedCaches(
	{ model, topology, memcached, redis, hooks = {} }: SharedCacheOptions,
	currentTopology: () => Topology,
	/** Whether a failover of the shard's host lost what caches may hold. */
	isStopped: (shard: number, mapping?: string) => boolean,
	resources: AsyncDisposableStack,
): Promise<{
	readonly shared: SharedCaches;
	/** Whether processes publish what they change. */
	readonly isPublished: boolean;
	isOverdue(): boolean;
	untilProven(): Promise<void>;
	/** `onBeat` is called before each question whether all that was published is received. */
	listen(store: Listener, onBeat: () => void): void;
} | null> {
	if (memcached.length === 0 && redis === null) return null;
	const layers = openLayers({ memcached, redis, hooks }, resources);
	let listener: Listener | undefined;
	/** As long as nobody listens, too: the agreement is waited for. */
	const lost = new Set(ALL_CHANNELS);
	let beforeBeat = () => {};
	const channel =
		redis === null || hooks.invalidations === false
			? null
			: resources.use(
					openInvalidationChannel({
						redisOf: () => redis,
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
	const { cacheAgreement: agreement } = topology;
	// One object, and one hash: they are compared with each read.
	const spokenTo = {
		objects: layers.objects && memcachedIdentity(memcached),
		get lists() {
			return redis?.runId ?? null;
		},
	};
	await agreement?.begin(
		() => spokenTo,
		// What was kept may have been changed by those who agree.
		(part) => part === "lists" && listener?.invalidateAll(),
	);
	if (redis !== null) redis.onIdentified = () => void agreement?.check();
	const given = hooks.wrapCaches?.(layers) ?? layers;
	const gated = (cache: SharedCache | null, part: CachePart) =>
		cache && agreement ? agreedCache(cache, part, agreement) : cache;
	return {
		shared: {
			objects: gated(given.objects, "objects"),
			heads: gated(given.heads, "lists"),
			publish: async (keys) =>
				channel === null ||
				((await channel.publish(keys)) &&
					(agreement?.isAgreed("lists") ?? true)),
			async untilPublished(keys, ms) {
				if (channel === null) return true;
				const [isPublished, isAgreed] = await Promise.all([
					channel.untilPublished(keys, ms),
					agreement?.untilAgreed("lists", ms) ?? true,
				]);
				return isPublished && isAgreed;
			},
			generationOf(shard, mapping) {
				const generation =
					model.mappings.get(mapping ?? "")?.place === "FEEDS"
						? feedGenerationOf(currentTopology(), shard)
						: generationOf(currentTopology(), shard);
				const term =
					agreement?.term(mapping === undefined ? "objects" : "lists") ?? 0;
				// Until the loss is accepted, which raises the generation.
				const stop = isStopped(shard, mapping) ? "s" : "";
				return `${generation}${stop}${term === 0 ? "" : `t${term}`}`;
			},
		},
		isPublished: channel !== null,
		isOverdue: () =>
			(channel?.isOverdue ?? false) ||
			(channel !== null &&
				agreement !== null &&
				(agreement.isOverdue || !agreement.mayRead("lists"))),
		async untilProven() {
			await Promise.all([channel?.untilProven(), agreement?.untilProven()]);
		},
		listen(store, onBeat) {
			listener = store;
			beforeBeat = onBeat;
			if (channel !== null && lost.size > 0) store.bypass(new Set(lost), true);
		},
	};
}

function openLayers(
	{
		memcached,
		redis,
		hooks = {},
	}: Pick<SharedCacheOptions, "memcached" | "redis" | "hooks">,
	resources: AsyncDisposableStack,
): CacheLayers {
	const deadline =
		hooks.cacheDeadlineMs === undefined
			? {}
			: { deadlineMs: hooks.cacheDeadlineMs };
	return {
		objects:
			memcached.length === 0
				? null
				: resources.use(
						openMemcachedCache({
							hosts: memcached,
							...deadline,
							...(hooks.memcachedAddress && {
								connectTo: hooks.memcachedAddress,
							}),
						}),
					),
		heads:
			redis === null
				? null
				: resources.use(openRedisCache({ redis, ...deadline })),
	};
}
