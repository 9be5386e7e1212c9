import {
	CacheConnection,
	type ClientConnection,
	type ConnectionEvents,
} from "./cacheConnection.ts";
import { RedisConnection, redisHost } from "./redisConnection.ts";

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
 */
export class RedisConnections {
	readonly host: string;
	readonly #url: string;
	#current: OpenConnection | undefined;
	#longestDeadlineMs = 0;

	constructor(
		/** `redis://…` or `rediss://…` */
		url: string,
	) {
		this.host = redisHost(url);
		this.#url = url;
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
			open: (events) => this.#join(events),
		});
	}

	/** A connection that is not shared. Whoever opens it closes it. */
	forSubscription(
		deadlineMs: number,
		lost: (error: unknown) => void,
	): RedisConnection {
		return new RedisConnection(this.#url, deadlineMs, lost);
	}

	#join(user: ConnectionEvents): CommandConnection {
		this.#current ??= this.#open();
		const current = this.#current;
		const { connection, users } = current;
		users.add(user);
		return {
			client: connection.client,
			withRunId: (run) =>
				connection.knownRunId === undefined
					? connection.runId.then(run)
					: run(connection.knownRunId),
			close: (failure) => {
				users.delete(user);
				if (this.#current !== current) return;
				if (failure === undefined && users.size > 0) return;
				this.#retire(current);
			},
		};
	}

	#open(): OpenConnection {
		const users = new Set<ConnectionEvents>();
		const opened: OpenConnection = {
			users,
			connection: new RedisConnection(
				this.#url,
				this.#longestDeadlineMs,
				(error) => {
					if (this.#current === opened) this.#current = undefined;
					for (const user of users) user.lost(error);
				},
			),
		};
		return opened;
	}

	#retire({ connection, users }: OpenConnection): void {
		this.#current = undefined;
		if (users.size === 0) {
			connection.close();
			return;
		}
		for (const user of users) user.replaced();
		setTimeout(() => connection.close(), this.#longestDeadlineMs).unref();
	}
}

/** The command connection as one of its users holds it. */
export interface CommandConnection extends ClientConnection {
	readonly client: RedisConnection["client"];
	/** The result of `run`, which is called with the `run_id` of the server, at once if that is known. */
	readonly withRunId: <T>(run: (runId: string) => Promise<T>) => Promise<T>;
}

interface OpenConnection {
	readonly connection: RedisConnection;
	readonly users: Set<ConnectionEvents>;
}
