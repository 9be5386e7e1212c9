import type { BucketLimit, TakeResult } from "../util/tokenBucket.ts";
import { CacheConnection } from "./cacheConnection.ts";
import { RedisConnection, redisHost } from "./redisConnection.ts";

/** Buckets that processes share. */
export interface RedisTokenBuckets extends AsyncDisposable {
	/** Null when Redis did not say in time. A name has a bucket for each filling. */
	take(
		filling: BucketLimit,
		name: string,
		points: number,
	): Promise<TakeResult | null>;
}

/**
 * src/util/tokenBucket.ts on the server, by the server's clock. A bucket that would
 * be full again is gone, which is the same.
 */
const TAKE = `
local size, per, points = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local level, at = size, now
local kept = redis.call('GET', KEYS[1])
if kept then
	local a, b = string.match(kept, '^(%S+) (%S+)$')
	level, at = tonumber(a), tonumber(b)
end
level = math.min(size, level + math.max(0, now - at) * size / per)
if points > level then
	return {math.ceil((points - level) * per / size), string.format('%.3f', level)}
end
level = math.min(size, level - points)
local full = math.ceil((size - level) * per / size)
if full > 0 then
	redis.call('SET', KEYS[1], string.format('%.3f %.0f', level, now), 'PX', full)
else
	redis.call('DEL', KEYS[1])
end
return {0, string.format('%.3f', level)}`;

export function openRedisTokenBuckets(options: {
	/** `redis://…` or `rediss://…` */
	readonly url: string;
	/** For each call, connecting included. */
	readonly deadlineMs?: number;
}): RedisTokenBuckets {
	const { url, deadlineMs = 50 } = options;
	const link = new CacheConnection({
		layer: "redis",
		host: redisHost(url),
		deadlineMs,
		open: (lost) => new RedisConnection(url, deadlineMs, lost),
	});
	return {
		take: (filling, name, points) =>
			link.call("take", 1, async (connection) => {
				// Connected, and to a server that may be written to.
				await connection.runId;
				const answer = await connection.client.eval(
					TAKE,
					1,
					`b1.${filling.points}.${filling.perMs}.${name}`,
					String(filling.points),
					String(filling.perMs),
					String(points),
				);
				const [waitMs, level] = answer as [number, string];
				return { waitMs, level: Number(level) };
			}),
		async [Symbol.asyncDispose]() {
			link[Symbol.dispose]();
		},
	};
}
