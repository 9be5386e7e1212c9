import { runAll } from "./redisConnection.ts";
import { CommandsByName, type RedisByName } from "./redisServers.ts";

/**
 * Texts in Redis under keys that are hashes of the texts. Such an entry is never
 * stale, so it needs no lease and no delete. If Redis is slow or down, a call
 * costs a bounded wait and finds nothing.
 */
export function openRedisTexts(options: {
	readonly redis: RedisByName;
	/** For each call, connecting included. */
	readonly deadlineMs?: number;
}): RedisTexts {
	const { redis, deadlineMs = 100 } = options;
	const commands = new CommandsByName(redis, { deadlineMs });
	return {
		async get(key) {
			const values = await commands
				.of(key)
				.call("get", 1, ({ client, withRunId }) =>
					withRunId(() => client.mget([key])),
				);
			return values?.[0] ?? null;
		},
		async set(key, text, ttlMs) {
			await commands
				.of(key)
				.call("set", 1, ({ client, withRunId }) =>
					withRunId(() => runAll(client, [["set", key, text, "PX", ttlMs]])),
				);
		},
		async [Symbol.asyncDispose]() {
			commands[Symbol.dispose]();
		},
	};
}

/** Neither method rejects. */
interface RedisTexts extends AsyncDisposable {
	get(key: string): Promise<string | null>;
	set(key: string, text: string, ttlMs: number): Promise<void>;
}
