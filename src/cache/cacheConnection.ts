import { type CacheCall, type CacheHost, CHANNELS } from "../diagnostics.ts";
import { CorkboardError } from "../errors.ts";
import { deadlineIn, withDeadline } from "../util/deadline.ts";
import { Breaker } from "./breaker.ts";

/** One connection of a client library. A call on a closed or lost one fails at once. */
export interface ClientConnection {
	/**
	 * Ends the connection now: no response that is still on its way reaches a
	 * caller. `failure` says why it is given up; without one it is not needed any
	 * more.
	 */
	close(failure?: unknown): void;
}

/** Called by a client connection when it ends. */
export interface ConnectionEvents {
	/** The connection failed, or the server closed it. */
	lost(error: unknown): void;
	/** Another user of a shared connection gave it up. Calls that run on it go on; the next call has to open another. */
	replaced(): void;
}

/**
 * The connection to one host of a shared cache: with a deadline for each call,
 * a breaker, and reconnects.
 *
 * The client libraries can wait forever (memjs after half a response or a
 * closed socket, ioredis on a server that accepts and never responds), so each
 * call has a deadline of its own here. A connection on which a call failed or
 * was late is closed and never used again: the next call that the breaker lets
 * through opens another, so a late response cannot be taken for the response to
 * a newer call.
 */
export class CacheConnection<C extends ClientConnection> implements Disposable {
	readonly host: string;
	readonly #layer: CacheHost["layer"];
	readonly #deadlineMs: number;
	readonly #open: (events: ConnectionEvents) => C;
	readonly #onUp: () => void;
	readonly #breaker: Breaker;
	/** Connections whose failure the breaker already counts. */
	readonly #failed = new WeakSet<C>();
	#connection: C | undefined;
	#running = 0;
	#disposed = false;

	constructor(options: {
		readonly layer: CacheHost["layer"];
		readonly host: string;
		/** For each call, connecting included. */
		readonly deadlineMs: number;
		/** The longest pause between two attempts to reach a host that is down. */
		readonly longestPauseMs?: number;
		/** Begins to connect. */
		readonly open: (events: ConnectionEvents) => C;
		/** A call succeeded after others had failed. */
		readonly onUp?: () => void;
	}) {
		this.host = options.host;
		this.#layer = options.layer;
		this.#deadlineMs = options.deadlineMs;
		this.#open = options.open;
		this.#onUp = options.onUp ?? (() => {});
		this.#breaker = new Breaker(undefined, options.longestPauseMs);
	}

	/** The result of `run`; null if the host is skipped, failed or was late. */
	async call<T>(
		verb: CacheCall["verb"],
		keys: number,
		run: (connection: C) => Promise<T>,
		options: {
			readonly deadlineMs?: number;
			/** No request waits for this call: it may find out whether a host that was down is back. */
			readonly isProbe?: boolean;
		} = {},
	): Promise<T | null> {
		const { deadlineMs = this.#deadlineMs, isProbe = false } = options;
		if (this.#disposed || this.#running >= MAX_RUNNING) return null;
		if (!this.#breaker.enter(isProbe)) return null;
		const connection = this.#connect();
		const started = performance.now();
		let ok = false;
		this.#running++;
		try {
			const result = await withDeadline(
				run(connection),
				deadlineIn(deadlineMs),
				() => timeoutError(deadlineMs),
			);
			ok = true;
			if (!this.#failed.has(connection) && this.#breaker.succeeded()) {
				this.#report("up");
				this.#onUp();
			}
			return result;
		} catch (error) {
			this.#drop(connection, error);
			return null;
		} finally {
			this.#running--;
			if (CHANNELS.cacheCall.hasSubscribers) {
				CHANNELS.cacheCall.publish({
					layer: this.#layer,
					host: this.host,
					verb,
					keys,
					ms: performance.now() - started,
					ok,
				} satisfies CacheCall);
			}
		}
	}

	/** Whether the next call, if the breaker lets it through, uses this connection. */
	isCurrent(connection: C): boolean {
		return this.#connection === connection;
	}

	[Symbol.dispose](): void {
		this.#disposed = true;
		this.#connection?.close();
		this.#connection = undefined;
	}

	#connect(): C {
		if (this.#connection !== undefined) return this.#connection;
		const connection = this.#open({
			lost: (error) => {
				if (this.#connection !== connection) return;
				// A server may close an idle connection at any time: that is no failure.
				if (this.#running > 0) this.#drop(connection, error);
				else this.#connection = undefined;
			},
			replaced: () => {
				if (this.#connection === connection) this.#connection = undefined;
			},
		});
		this.#connection = connection;
		return connection;
	}

	/** All calls that run on the connection count as one failure. */
	#drop(connection: C, error: unknown): void {
		if (this.#disposed || this.#failed.has(connection)) return;
		this.#failed.add(connection);
		if (this.#connection === connection) this.#connection = undefined;
		if (this.#breaker.failed()) this.#report("down", error);
		connection.close(error);
	}

	#report(state: CacheHost["state"], error?: unknown): void {
		CHANNELS.cacheHost.publish({
			layer: this.#layer,
			host: this.host,
			state,
			...(error !== undefined && { error }),
		} satisfies CacheHost);
	}
}

/** More calls than this run at once only while a host hangs; callers above the limit do without the cache. */
const MAX_RUNNING = 256;

function timeoutError(ms: number): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		`The cache did not respond within ${Math.round(ms)} ms.`,
	);
}
