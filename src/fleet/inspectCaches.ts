import { isLate } from "../cache/cacheConnection.ts";
import { CACHE_CHANNELS } from "../cache/diagnostics.ts";
import { openMemcachedCache } from "../cache/memcached/memcachedCache.ts";
import { openRedisCache } from "../cache/redis/redisCache.ts";
import { RedisConnections } from "../cache/redis/redisConnections.ts";
import { missingRules } from "../cache/redis/redisRights.ts";
import { type CacheSettings, cacheHosts } from "../cache/serverList.ts";
import { listen } from "../diagnostics.ts";
import type { FleetCaches } from "../topology/types.ts";
import type { CacheLayer } from "../trace.ts";
import { compact } from "../util/compact.ts";
import { type Deadline, deadlineIn } from "../util/deadline.ts";
import { reasonOf } from "../util/reasonOf.ts";

/** Time for all hosts, connecting included. Milliseconds. */
const LIMIT_MS = 2_000;
/** No key of ours: its lease ends by itself. */
const KEY = "corkboard.check";

/** A host of a shared cache. */
export interface CacheReport {
	readonly layer: CacheLayer;
	/** `host:port` */
	readonly host: string;
	/** Why it does not answer; null if it does. */
	readonly error: string | null;
	/** Whether the error is that nothing came in time. */
	readonly isSilent: boolean;
	/** Whether it answers, and refuses writes or does not show them. */
	readonly isUnread: boolean;
	/** Rules that its ACL lacks. */
	readonly missing: readonly string[];
}

/** Which hosts of the shared caches do not answer, and why: a sentence for each. */
export function cacheProblems(
	reports: readonly CacheReport[],
): readonly string[] {
	return reports.flatMap(({ layer, host, error, isUnread, missing }) =>
		compact([
			error !== null &&
				`${layer} ${host} ${isUnread ? "is not read" : "does not answer"}: ${error}`,
			missing.length > 0 &&
				`${layer} ${host} does not allow its user ${missing.join(" ")}: corkboard grants show --redis prints all that it needs.`,
		]),
	);
}

/** Asks every host of the shared caches, all at once. */
export async function inspectCaches(
	settings: CacheSettings,
	/** The caches that the map names. */
	caches: FleetCaches | undefined,
	{ until }: Deadline = deadlineIn(LIMIT_MS),
): Promise<readonly CacheReport[]> {
	const deadlineMs = Math.max(1, until - performance.now());
	const errors = new Map<
		string,
		Pick<CacheReport, "isSilent" | "isUnread"> & { readonly error: string }
	>();
	using _ = listen(
		CACHE_CHANNELS.cacheHost,
		({ layer, host, state, error }) => {
			const reason = reasonOf(error);
			errors.set(`${layer} ${host}`, {
				error: reason,
				isSilent: isLate(error),
				isUnread: state === "unread",
			});
		},
	);
	const missing = new Map<string, readonly string[]>();
	const asked = cacheHosts(caches, settings);
	await Promise.all(
		asked.map(async ({ layer, server }) => {
			await using cache =
				layer === "redis"
					? openRedisCache({
							redis: new RedisConnections(server.url),
							deadlineMs,
						})
					: openMemcachedCache({
							lists: [{ servers: [server], changed: null }],
							deadlineMs,
						});
			await cache.getOrLease([KEY]);
			if (layer === "redis") {
				missing.set(server.name, await missingAt(server.url, deadlineMs));
			}
		}),
	);
	return asked.map(({ layer, server: { name: host } }) => ({
		layer,
		host,
		...(errors.get(`${layer} ${host}`) ?? {
			error: null,
			isSilent: false,
			isUnread: false,
		}),
		missing: missing.get(host) ?? [],
	}));
}

/** Nothing of one that does not answer. */
async function missingAt(
	url: string,
	deadlineMs: number,
): Promise<readonly string[]> {
	using commands = new RedisConnections(url).forCommands({ deadlineMs });
	const missing = await commands.call("stats", 0, ({ client, withRunId }) =>
		withRunId(() => missingRules(client)),
	);
	return missing ?? [];
}
