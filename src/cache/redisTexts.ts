import { CacheConnection } from "./cacheConnection.ts";
import { RedisConnection, redisHost } from "./redisConnection.ts";

/**
 * Texts under keys that say what they are (a hash of the text), in Redis. So
 * nothing here is ever stale, and neither leases nor burials are needed. A
 * Redis that is slow or gone costs a bounded wait, and the text is not there.
 */
export function openRedisTexts(options: {
	/** `redis://…` or `rediss://…` */
	readonly url: string;
	/** For each call, connecting included. */
	readonly deadlineMs?: number;
}): RedisTexts {
	const { url, deadlineMs = 100 } = options;
	const link = new CacheConnection({
		layer: "redis",
		host: redisHost(url),
		deadlineMs,
		open: (lost) => new RedisConnection(url, deadlineMs, lost),
	});
	return {
		async get(key) {
			const found = await link.call("get", 1, async ({ client, runId }) => {
				await runId;
				return client.mget([key]);
			});
			return found?.[0] ?? null;
		},
		async set(key, text, ttlMs) {
			await link.call("set", 1, async ({ client, runId }) => {
				await runId;
				// An error of this one command, such as no memory, is not the connection's.
				await client.pipeline([["set", key, text, "PX", ttlMs]]).exec();
			});
		},
		async [Symbol.asyncDispose]() {
			link[Symbol.dispose]();
		},
	};
}

/** Neither method rejects. */
export interface RedisTexts extends AsyncDisposable {
	get(key: string): Promise<string | null>;
	set(key: string, text: string, ttlMs: number): Promise<void>;
}
