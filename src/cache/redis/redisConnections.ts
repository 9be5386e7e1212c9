import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import { listening } from "../../util/listening.ts";
import {
	CacheConnection,
	type ClientConnection,
	type ConnectionEvents,
} from "../cacheConnection.ts";
import { type ServerList, serverLists } from "../serverList.ts";
import {
	type RedisCommands,
	RedisConnection,
	type RedisSubscription,
} from "./redisConnection.ts";
import { isRefusal, meaningOf } from "./redisErrors.ts";
import { type RedisAddress, redisAddress } from "./redisUrl.ts";

/**
 * The connections of one process to one Redis: at most one for commands, shared
 * by everything that uses Redis, and one for the subscription, because a
 * subscribed connection takes no other commands (RESP2).
 *
 * Each user of the command connection has its own deadline and breaker. When a
 * call of one user fails or is late, that user gives the connection up:
 *
 * 1. The next call of every user uses a new connection.
 * 2. Calls of other users that run on the old one go on, up to their own
 *    deadlines.
 * 3. The old one closes once the longest deadline has passed, or at once if it
 *    has no other user.
 *
 * All connections lead to one server. An address may lead to another one from
 * one moment to the next, after a failover, while connections that are open stay
 * where they were: commands on them would not meet those of other processes. So
 * when a server answers that it takes no writes, or a newer connection finds
 * another `run_id`, all that lead to the former server are given up at once.
 */
export class RedisConnections {
	readonly host: string;
	readonly lists: readonly ServerList[];
	#address: RedisAddress;
	#url: string;
	#current: OpenConnection | undefined;
	/** All that are open, oldest first. */
	readonly #open = new Set<RedisConnection>();
	#longestDeadlineMs = 0;
	#onIdentified = () => {};

	constructor(
		/** `redis://…` or `rediss://…[?ssl-ca=FILE]` */
		url: string,
	) {
		this.#address = redisAddress(url);
		this.#url = url;
		this.host = this.#address.host;
		const settings = { memcached: [], redis: url };
		this.lists = serverLists(undefined, settings, "lists");
	}

	/** Another password or certificate, for connections that are opened from now on. */
	set url(url: string) {
		if (url === this.#url) return;
		this.#address = redisAddress(url);
		this.#url = url;
	}

	/** The connections for every name, as `redisServers.ts` has them for several servers. */
	of(): RedisConnections {
		return this;
	}

	at(): RedisConnections {
		return this;
	}

	get all(): readonly RedisConnections[] {
		return [this];
	}

	/** Called when a connection has found which server it leads to. */
	set onIdentified(listener: () => void) {
		this.#onIdentified = listener;
	}

	/** The `run_id` of the server that all connections lead to; null while none is open that knows it. */
	get runId(): string | null {
		let newest: string | null = null;
		for (const { isClosed, knownRunId } of this.#open) {
			if (!isClosed && knownRunId !== undefined) newest = knownRunId;
		}
		return newest;
	}

	/** The command connection, for one user. It opens with the first call, and closes when its last user is disposed of. */
	forCommands(options: {
		/** For each call, connecting included. */
		readonly deadlineMs: number;
		/** The longest pause between two attempts to reach a Redis that is down. */
		readonly longestPauseMs?: number;
		/** A call succeeded after others had failed. */
		readonly onUp?: () => void;
	}): CacheConnection<CommandConnection> {
		this.#longestDeadlineMs = Math.max(
			this.#longestDeadlineMs,
			options.deadlineMs,
		);
		return new CacheConnection({
			...options,
			layer: "redis",
			host: this.host,
			isRefusal,
			open: (events) => this.#join(events),
		});
	}

	/** Throws BAD_CONFIG if the server is a node of a cluster; one that does not answer soon may be any. */
	async requireNoCluster(): Promise<void> {
		const connection = this.forSubscription(() => {});
		const stop = new AbortController();
		const { signal } = stop;
		try {
			await Promise.race([
				connection.runId,
				sleep(START_MS, undefined, { signal }).catch(() => {}),
			]);
		} catch (error) {
			if (error instanceof CorkboardError) throw error;
		} finally {
			stop.abort();
			connection.close();
		}
	}

	/** A connection that is not shared. The caller that opens it closes it. */
	forSubscription(lost: (error: unknown) => void): SubscriptionConnection {
		const connection = new RedisConnection(this.#address, lost);
		this.#note(connection);
		return connection;
	}

	#join(user: ConnectionEvents): CommandConnection {
		this.#current ??= this.#openForCommands();
		const current = this.#current;
		const { connection, users } = current;
		users.add(user);
		return {
			client: connection.client,
			sendNow: () => connection.sendNow(),
			withRunId: (run) =>
				connection.knownRunId === undefined
					? connection.runId.then(run)
					: run(connection.knownRunId),
			close: (failure) => {
				users.delete(user);
				// It was a master when the connection was opened.
				if (meaningOf(failure) === "demoted") this.#leave(connection, failure);
				if (this.#current !== current) return;
				if (failure === undefined && users.size > 0) return;
				this.#retire(current);
			},
		};
	}

	#openForCommands(): OpenConnection {
		const users = new Set<ConnectionEvents>();
		const opened: OpenConnection = {
			users,
			connection: new RedisConnection(this.#address, (error) => {
				if (this.#current === opened) this.#current = undefined;
				for (const user of users) user.lost(error);
			}),
		};
		this.#note(opened.connection);
		return opened;
	}

	#note(connection: RedisConnection): void {
		this.#forgetClosed();
		this.#open.add(connection);
		connection.runId.then(
			(runId) => this.#found(connection, runId),
			() => {},
		);
	}

	/** The newest connection that knows its server is right. */
	#found(connection: RedisConnection, runId: string): void {
		this.#forgetClosed();
		this.#onIdentified();
		let isNewer = false;
		for (const other of this.#open) {
			if (other === connection) {
				isNewer = true;
				continue;
			}
			const { knownRunId } = other;
			if (knownRunId === undefined || knownRunId === runId) continue;
			(isNewer ? connection : other).giveUp(
				new Error("Another Redis answers at this address."),
			);
		}
	}

	/** Gives up all connections to the server of this one. */
	#leave({ knownRunId }: RedisConnection, error: unknown): void {
		this.#forgetClosed();
		for (const connection of this.#open) {
			if (connection.knownRunId === knownRunId) connection.giveUp(error);
		}
	}

	#forgetClosed(): void {
		for (const connection of this.#open) {
			if (connection.isClosed) this.#open.delete(connection);
		}
	}

	#retire({ connection, users }: OpenConnection): void {
		this.#current = undefined;
		if (users.size === 0) {
			connection.close();
			return;
		}
		for (const user of users) user.replaced();
		listening.after(this.#longestDeadlineMs, () => connection.close());
	}
}

/** How long a start waits for Redis to say what it is. Milliseconds. */
const START_MS = 500;

/** The command connection as one of its users holds it. */
export interface CommandConnection extends ClientConnection {
	readonly client: RedisCommands;
	/** Sends what was written in this turn of the event loop, before its end. */
	sendNow(): void;
	/** The result of `run`, which is called with the `run_id` of the server, at once if that is known. */
	readonly withRunId: <T>(run: (runId: string) => Promise<T>) => Promise<T>;
}

/** A connection that waits for messages. */
export interface SubscriptionConnection
	extends Pick<RedisConnection, "runId" | "knownRunId" | "sendNow" | "close"> {
	readonly client: RedisSubscription;
}

interface OpenConnection {
	readonly connection: RedisConnection;
	readonly users: Set<ConnectionEvents>;
}
