import { type CacheCall, type CacheHost, CHANNELS } from "../diagnostics.ts";
import { CorkboardError } from "../errors.ts";
import { deadlineIn, withDeadline } from "../util/deadline.ts";
import { Breaker } from "./breaker.ts";

/** A connection of a client library's. Calls on one that was closed, or lost, fail at once. */
export interface ClientConnection {
	/** Ends it now: no answer that is still on its way reaches anybody. */
	close(): void;
}

/**
 * One host of a shared cache, and the one connection to it. The client
 * libraries can wait for ever (FIELD §3.1, §3.2), so nothing here trusts them
 * to end: each call has its own deadline, and a connection with a call that
 * was late or failed is closed and never used again. The next call that the
 * breaker lets through makes a new one, so an answer to an old call cannot be
 * taken for one to a new call.
 */
export class CacheConnection<C extends ClientConnection> implements Disposable {
	readonly host: string;
	readonly #layer: CacheHost["layer"];
	readonly #deadlineMs: number;
	readonly #open: (lost: (error: unknown) => void) => C;
	readonly #breaker: Breaker;
	#connection: C | undefined;
	#running = 0;
	#disposed = false;

	constructor(options: {
		readonly layer: CacheHost["layer"];
		readonly host: string;
		/** For each call, connecting included. */
		readonly deadlineMs: number;
		/** Between tries of a host that is gone, where nobody waits for them. */
		readonly longestPauseMs?: number;
		/** Begins to connect. `lost` is to be called when the connection ends by itself. */
		readonly open: (lost: (error: unknown) => void) => C;
	}) {
		this.host = options.host;
		this.#layer = options.layer;
		this.#deadlineMs = options.deadlineMs;
		this.#open = options.open;
		this.#breaker = new Breaker(undefined, options.longestPauseMs);
	}

	/** What `run` answers, or null: the host is being skipped, failed, or was too late. */
	async call<T>(
		verb: CacheCall["verb"],
		keys: number,
		run: (connection: C) => Promise<T>,
		deadlineMs = this.#deadlineMs,
	): Promise<T | null> {
		if (this.#disposed || this.#running >= MOST_RUNNING) return null;
		if (!this.#breaker.enter()) return null;
		const connection = this.#connect();
		const started = performance.now();
		let ok = false;
		this.#running++;
		try {
			const answer = await withDeadline(
				run(connection),
				deadlineIn(deadlineMs),
				() => late(deadlineMs),
			);
			ok = true;
			if (connection === this.#connection && this.#breaker.succeeded()) {
				this.#tell("up");
			}
			return answer;
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

	/** Whether the next call, if it is let through, goes over this one. */
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
		const connection = this.#open((error) => {
			// One that idles may go at any time, and the next call makes another.
			if (this.#running > 0) this.#drop(connection, error);
			else if (this.#connection === connection) this.#connection = undefined;
		});
		this.#connection = connection;
		return connection;
	}

	/** The calls that run on it fail too, and count as one failure with this. */
	#drop(connection: C, error: unknown): void {
		if (this.#connection !== connection) return;
		this.#connection = undefined;
		if (this.#breaker.failed()) this.#tell("down", error);
		connection.close();
	}

	#tell(state: CacheHost["state"], error?: unknown): void {
		CHANNELS.cacheHost.publish({
			layer: this.#layer,
			host: this.host,
			state,
			...(error !== undefined && { error }),
		} satisfies CacheHost);
	}
}

/** More at once than this wait for a host only when it hangs; they do without it. */
const MOST_RUNNING = 256;

function late(ms: number): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		`Expected an answer within ${Math.round(ms)} ms but got: none.`,
	);
}
