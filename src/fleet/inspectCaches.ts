import { isLate } from "../cache/cacheConnection.ts";
import { CACHE_CHANNELS } from "../cache/diagnostics.ts";
import { openMemcachedCache } from "../cache/memcached/memcachedCache.ts";
import { openRedisCache } from "../cache/redis/redisCache.ts";
import { RedisConnections } from "../cache/redis/redisConnections.ts";
import { redisHost } from "../cache/redis/redisUrl.ts";
import type { SharedCache } from "../cache/sharedCache.ts";
import type { Config } from "../config/config.ts";
import { listen } from "../diagnostics.ts";
import type { CacheLayer } from "../trace.ts";
import { type Deadline, deadlineIn } from "../util/deadline.ts";

/** Time for all hosts, connecting included. Milliseconds. */
const LIMIT_MS = 2_000;
/** No key of ours: its lease ends by itself. */
const KEY = "corkboard.check";

/** A host of a shared cache. */
export interface CacheReport {
	readonly layer: CacheLayer;
	/** `host:port` */
	readonly host: string;
	/** Why it does not answer; null where it does. */
	readonly error: string | null;
	/** Whether the error is that nothing came in time. */
	readonly isSilent: boolean;
}

/** Which hosts of the shared caches do not answer, and why: a sentence for each. */
export function cacheProblems(
	reports: readonly CacheReport[],
): readonly string[] {
	return reports.flatMap(({ layer, host, error }) =>
		error === null ? [] : [`${layer} ${host} does not answer: ${error}`],
	);
}

/** Asks every host of the shared caches, all at once. */
export async function inspectCaches(
	{ memcached, redis }: Pick<Config, "memcached" | "redis">,
	{ until }: Deadline = deadlineIn(LIMIT_MS),
): Promise<readonly CacheReport[]> {
	const deadlineMs = Math.max(1, until - performance.now());
	const errors = new Map<
		string,
		Pick<CacheReport, "isSilent"> & { readonly error: string }
	>();
	using _ = listen(CACHE_CHANNELS.cacheHost, ({ layer, host, error }) => {
		const reason = error instanceof Error ? error.message : String(error);
		errors.set(`${layer} ${host}`, { error: reason, isSilent: isLate(error) });
	});
	const ask = async (cache: SharedCache) => {
		await using asked = cache;
		await asked.getOrLease([KEY]);
	};
	await Promise.all([
		...memcached.map((host) =>
			ask(openMemcachedCache({ hosts: [host], deadlineMs })),
		),
		...(redis === null
			? []
			: [
					ask(
						openRedisCache({
							redis: new RedisConnections(redis),
							deadlineMs,
						}),
					),
				]),
	]);
	const reportOf = (layer: CacheLayer, host: string): CacheReport => ({
		layer,
		host,
		...(errors.get(`${layer} ${host}`) ?? { error: null, isSilent: false }),
	});
	return [
		...memcached.map((host) => reportOf("memcached", host)),
		...(redis === null ? [] : [reportOf("redis", redisHost(redis))]),
	];
}
