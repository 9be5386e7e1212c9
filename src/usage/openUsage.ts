import { type RedisByName, RedisServers } from "../cache/redis/redisServers.ts";
import type { Config } from "../config/config.ts";
import { CorkboardError } from "../errors.ts";
import type { FleetCaches } from "../topology/types.ts";
import { openRedisUsage, readRedisUsage } from "./redisUsage.ts";
import { openUsageFiles, readUsageFiles } from "./usageFile.ts";
import { UsageRecorder } from "./usageRecorder.ts";
import { lastDays, type UsageDay, type UsageStore } from "./usageStore.ts";

type Log = Parameters<typeof openUsageFiles>[0]["log"];

/** Counts what clients run until `resources` are disposed of, if there is a place to keep it. */
export function openUsage(
	corkboard: {
		readonly config: Config;
		readonly redis: RedisByName | null;
	},
	log: Log,
	resources: AsyncDisposableStack,
): void {
	const store = openStore(corkboard, log);
	if (store !== null) resources.use(new UsageRecorder({ store }));
}

function openStore(
	{
		config: { store, usageDays: days },
		redis,
	}: Parameters<typeof openUsage>[0],
	log: Log,
): UsageStore | null {
	if (days === 0) return null;
	if (redis !== null) return openRedisUsage({ redis, days, log });
	if (store.kind !== "embedded") return null;
	return openUsageFiles({ folder: store.folder, days, log });
}

/** The days that are kept, oldest first. Throws BAD_CONFIG if usage is not kept, and what reading it throws. */
export async function readUsage(
	config: Config,
	/** The caches that the map names. */
	caches: FleetCaches | undefined,
): Promise<readonly UsageDay[]> {
	const problem = whyNoUsage(config, caches);
	if (problem !== null) throw new CorkboardError("BAD_CONFIG", problem);
	const days = lastDays(config.usageDays, Date.now());
	if (config.redis !== null || caches !== undefined) {
		return readRedisUsage(new RedisServers(config.redis, caches), days);
	}
	const { store } = config;
	return store.kind === "embedded" ? readUsageFiles(store.folder, days) : [];
}

/** Null if usage is kept. */
export function whyNoUsage(
	{ usageDays, redis, store }: Config,
	caches: FleetCaches | undefined,
): string | null {
	if (usageDays === 0)
		return "Usage is not counted: CORKBOARD_USAGE_DAYS is 0.";
	const isShared = redis !== null || caches !== undefined;
	return !isShared && store.kind !== "embedded"
		? "Usage is not kept: with a topology it needs a Redis (CORKBOARD_REDIS, or caches set)."
		: null;
}
