import { openMemcachedCache } from "../cache/memcachedCache.ts";
import { openRedisCache } from "../cache/redisCache.ts";
import { RedisConnections } from "../cache/redisConnections.ts";
import type { SharedCache } from "../cache/sharedCache.ts";
import type { Config } from "../config/config.ts";
import { type CacheHost, CHANNELS } from "../diagnostics.ts";

/** Time for one host, connecting included. Milliseconds. */
const DEADLINE_MS = 2_000;
/** No key of ours: its lease ends by itself. */
const KEY = "corkboard.check";

/** Which hosts of the shared caches do not answer, and why: a sentence for each. */
export async function cacheProblems({
	memcached,
	redis,
}: Pick<Config, "memcached" | "redis">): Promise<readonly string[]> {
	const problems: string[] = [];
	const note = (message: unknown) => {
		const { layer, host, error } = message as CacheHost;
		const reason = error instanceof Error ? error.message : String(error);
		problems.push(`${layer} ${host} does not answer: ${reason}`);
	};
	const ask = async (cache: SharedCache) => {
		await using asked = cache;
		await asked.getOrLease([KEY]);
	};
	CHANNELS.cacheHost.subscribe(note);
	try {
		await Promise.all([
			...memcached.map((host) =>
				ask(openMemcachedCache({ hosts: [host], deadlineMs: DEADLINE_MS })),
			),
			...(redis === null
				? []
				: [
						ask(
							openRedisCache({
								redis: new RedisConnections(redis),
								deadlineMs: DEADLINE_MS,
							}),
						),
					]),
		]);
	} finally {
		CHANNELS.cacheHost.unsubscribe(note);
	}
	return problems;
}
