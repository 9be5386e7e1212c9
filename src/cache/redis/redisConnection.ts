import type { Writable } from "node:stream";
import { CorkboardError } from "../../errors.ts";
import { loadWhenUsed } from "../../util/loadWhenUsed.ts";
import { writeOncePerTurn } from "../../util/writeOncePerTurn.ts";
import type { ClientConnection } from "../cacheConnection.ts";
import { isRefusal } from "./redisErrors.ts";
import type { RedisAddress } from "./redisUrl.ts";

const ioredis = loadWhenUsed<typeof import("ioredis")>("ioredis");

/** What is asked of a Redis over a connection for commands. */
export interface RedisCommands {
	call(command: string, args: string[]): Promise<unknown>;
	info(): Promise<string>;
	mget(keys: string[]): Promise<(string | null)[]>;
	del(keys: string[]): Promise<number>;
	eval(
		script: string,
		keyCount: number,
		...keysAndArguments: string[]
	): Promise<unknown>;
	/** Null if the connection is lost. */
	pipeline(commands: (string | number)[][]): {
		exec(): Promise<[error: Error | null, answer: unknown][] | null>;
	};
}

/** What a connection can do that was opened for messages. */
export interface RedisSubscription {
	subscribe(...channels: string[]): Promise<unknown>;
	unsubscribe(channel: string): Promise<unknown>;
	/** The answer comes behind all messages before it. */
	ping(): Promise<unknown>;
	on(
		event: "message",
		listener: (channel: string, message: string) => void,
	): unknown;
}

/** The connection itself, which is this file's alone. */
interface Connecting {
	connect(): Promise<void>;
	disconnect(): void;
	readonly stream: Writable | undefined;
	on(
		event: "connect" | "error" | "close",
		listener: (error?: unknown) => void,
	): unknown;
}

/**
 * One connection to one Redis. It never reconnects by itself: its users decide
 * what runs again after an error (cacheConnection.ts, invalidationChannel.ts).
 * They decide what is late as well: the timers of ioredis go off before a
 * process that was busy has read the answers in its sockets.
 */
export class RedisConnection implements ClientConnection {
	/** Once it subscribes, it takes no commands any more. */
	readonly client: RedisCommands & RedisSubscription;
	/** Identifies the server; a server draws a new `run_id` at each start. Rejects if the server is not a master. */
	readonly runId: Promise<string>;
	/** The same once it is known: a call need not wait for it then. */
	knownRunId: string | undefined;
	readonly #connecting: Connecting;
	readonly #lost: (error: unknown) => void;
	#closed = false;

	constructor(
		{ url, host, tls, password: passwordNow }: RedisAddress,
		lost: (error: unknown) => void,
	) {
		const password = passwordNow();
		const { Redis } = ioredis();
		this.#lost = lost;
		const client = new Redis(url, {
			...(tls !== null && { tls }),
			...(password !== undefined && { password }),
			lazyConnect: true,
			retryStrategy: () => null,
			enableOfflineQueue: false,
			enableReadyCheck: false,
			maxRetriesPerRequest: 0,
			autoResubscribe: false,
			// RESP2: every server speaks it, and it needs no HELLO round trip.
			protocol: 2,
			disableClientInfo: true,
			// Longer than every deadline of ours, also in a process that was paused.
			connectTimeout: CONNECT_LIMIT_MS,
		}) satisfies Connecting & RedisCommands & RedisSubscription;
		this.client = client;
		this.#connecting = client;
		client.on("connect", () => {
			const { stream } = client;
			if (stream !== undefined) writeOncePerTurn(stream);
		});
		let failure: unknown;
		client.on("error", (error) => {
			failure = error;
		});
		client.on("close", () =>
			this.giveUp(failure ?? new Error("Redis closed the connection.")),
		);
		this.runId = identify(client, host);
		this.runId.then(
			(runId) => {
				this.knownRunId = runId;
			},
			() => {},
		);
	}

	get isClosed(): boolean {
		return this.#closed;
	}

	/** Sends what was written in this turn of the event loop, before its end. */
	sendNow(): void {
		this.#connecting.stream?.uncork();
	}

	/** Its user learns that it is lost. */
	giveUp(error: unknown): void {
		if (this.#closed) return;
		this.close();
		this.#lost(error);
	}

	close(): void {
		this.#closed = true;
		this.#connecting.disconnect();
		// `disconnect` alone keeps reading until the server closes as well.
		this.#connecting.stream?.destroy();
	}
}

const CONNECT_LIMIT_MS = 60_000;

function inCluster(host: string): CorkboardError {
	return new CorkboardError(
		"BAD_CONFIG",
		`Redis ${host} is a node of a Redis Cluster, which loses deletes that it acknowledged when it fails over. Use a Redis of its own, with cluster mode off.`,
	);
}

/** Runs commands in one pipeline; the first error of one of them is that of all. */
export async function runAll(
	client: RedisCommands,
	commands: (string | number)[][],
): Promise<readonly unknown[]> {
	const replies = await client.pipeline(commands).exec();
	if (replies === null) throw new Error("Redis closed the connection.");
	for (const [error] of replies) if (error !== null) throw error;
	return replies.map(([, reply]) => reply);
}

/** It says which server answers, so nothing works without it, and a user who may not run it gets no further. */
async function infoOf(client: RedisCommands): Promise<string> {
	try {
		return await client.info();
	} catch (error) {
		if (!isRefusal(error)) throw error;
		throw new CorkboardError(
			"BAD_CONFIG",
			`Redis refuses INFO: ${error.message} Give its user the rights that \`corkboard grants show --redis\` prints.`,
			{ cause: error },
		);
	}
}

async function identify(
	client: Connecting & RedisCommands,
	host: string,
): Promise<string> {
	await client.connect();
	const info = await infoOf(client);
	if (/^redis_mode:cluster\r?$/m.test(info)) throw inCluster(host);
	const runId = /^run_id:([0-9a-f]{40})\r?$/m.exec(info)?.[1];
	const role = /^role:(\w+)\r?$/m.exec(info)?.[1];
	if (runId === undefined || role !== "master") {
		throw new Error(
			`Redis must be a master with a run_id, but its role is ${role} and its run_id ${runId}.`,
		);
	}
	return runId;
}
