import type { BucketLimit, TakeResult } from "../../util/tokenBucket.ts";
import { CommandsByName, type RedisByName } from "./redisServers.ts";

/** Token buckets that all processes share. */
interface RedisTokenBuckets extends AsyncDisposable {
	/** Null if Redis does not respond in time. Each pair of limit and name has a bucket of its own. */
	take(
		limit: BucketLimit,
		name: string,
		points: number,
	): Promise<TakeResult | null>;
}

/**
 * `takePoints` of src/util/tokenBucket.ts as a script, by the clock of the
 * server. The key of a bucket expires when the bucket would be full again: a
 * missing bucket is a full one.
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
	readonly redis: RedisByName;
	/** For each call, connecting included. */
	readonly deadlineMs?: number;
}): RedisTokenBuckets {
	const { redis, deadlineMs = 50 } = options;
	const commands = new CommandsByName(redis, { deadlineMs });
	return {
		take: (limit, name, points) =>
			commands.of(name).call("take", 1, ({ client, withRunId }) =>
				// Known once connected, and only of a master, which takes writes.
				withRunId(async () => {
					const reply = await client.eval(
						TAKE,
						1,
						`b1.${limit.points}.${limit.perMs}.${name}`,
						String(limit.points),
						String(limit.perMs),
						String(points),
					);
					const [waitMs, level] = reply as [number, string];
					return { waitMs, level: Number(level) };
				}),
			),
		async [Symbol.asyncDispose]() {
			commands[Symbol.dispose]();
		},
	};
}
