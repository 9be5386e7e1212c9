import { Redis } from "ioredis";
import { CorkboardError } from "../errors.ts";
import type { ClientConnection } from "./cacheConnection.ts";

/** Of ioredis, what is in use. */
export interface RedisClient {
	connect(): Promise<void>;
	disconnect(): void;
	readonly stream: { destroy(): unknown } | undefined;
	info(): Promise<string>;
	mget(keys: string[]): Promise<(string | null)[]>;
	del(keys: string[]): Promise<number>;
	eval(
		script: string,
		keyCount: number,
		...keysAndArguments: string[]
	): Promise<unknown>;
	/** Null where the connection went. */
	pipeline(commands: (string | number)[][]): {
		exec(): Promise<[error: Error | null, answer: unknown][] | null>;
	};
	publish(channel: string, message: string): Promise<number>;
	subscribe(channel: string): Promise<unknown>;
	on(event: "error" | "close", listener: (error?: unknown) => void): unknown;
	on(
		event: "message",
		listener: (channel: string, message: string) => void,
	): unknown;
}

/**
 * One connection to one Redis, which is never made a second time: what runs
 * again after an error is decided by whoever holds it (link.ts, channel.ts).
 */
export class RedisConnection implements ClientConnection {
	readonly client: RedisClient;
	/** Which server it is, once that is known: `run_id` is drawn anew at each start of a server. */
	readonly runId: Promise<string>;
	#closed = false;

	constructor(url: string, deadlineMs: number, lost: (error: unknown) => void) {
		this.client = new Redis(url, {
			lazyConnect: true,
			retryStrategy: () => null,
			enableOfflineQueue: false,
			enableReadyCheck: false,
			maxRetriesPerRequest: 0,
			autoResubscribe: false,
			// The oldest, which every server knows, and without a round trip to agree on it.
			protocol: 2,
			disableClientInfo: true,
			// Behind our own deadlines, which come first.
			connectTimeout: 2 * deadlineMs,
			commandTimeout: 2 * deadlineMs,
			socketTimeout: 4 * deadlineMs,
		}) satisfies RedisClient;
		let failure: unknown;
		this.client.on("error", (error) => {
			failure = error;
		});
		this.client.on("close", () => {
			if (!this.#closed)
				lost(failure ?? new Error("Redis closed the connection"));
		});
		this.runId = identify(this.client);
		this.runId.catch(() => {});
	}

	close(): void {
		this.#closed = true;
		this.client.disconnect();
		// `disconnect` alone would go on reading until the server closes too.
		this.client.stream?.destroy();
	}
}

async function identify(client: RedisClient): Promise<string> {
	await client.connect();
	const info = await client.info();
	const runId = /^run_id:([0-9a-f]{40})\r?$/m.exec(info)?.[1];
	const role = /^role:(\w+)\r?$/m.exec(info)?.[1];
	if (runId === undefined || role !== "master") {
		throw new Error(
			`expected a Redis master with a run_id but got: role ${role}, run_id ${runId}`,
		);
	}
	return runId;
}

/** The URL's host and port, checked: what may be logged of it. */
export function redisHost(url: string): string {
	if (!URL.canParse(url) || !/^rediss?:\/\/[^/]/.test(url)) {
		// What was given is not repeated: it may hold a password.
		throw new CorkboardError(
			"BAD_CONFIG",
			"The URL of Redis must be like redis://cache1.example.com:6379 but got something else.",
		);
	}
	const { hostname, port } = new URL(url);
	return `${hostname}:${port || 6379}`;
}
