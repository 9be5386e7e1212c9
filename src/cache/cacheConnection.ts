import { CorkboardError } from "../errors.ts";
import { listening } from "../util/listening.ts";
import { Breaker } from "./breaker.ts";
import {
	CACHE_CHANNELS,
	type CacheCall,
	type CacheHost,
} from "./diagnostics.ts";

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
	/** Another user of a shared connection gave it up. Calls that run on it continue; the next call has to open another. */
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
	readonly #isRefusal: (error: unknown) => error is Error;
	/** When each kind of refusal was reported, by verb and first word. */
	readonly #refused = new Map<string, number>();
	readonly #breaker: Breaker;
	/** Connections whose failure the breaker already counts. */
	readonly #failed = new WeakSet<C>();
	#connection: C | undefined;
	readonly #running = new Set<RunningCall>();
	#stopWatching = () => {};
	/** By the listening clock, when it looks for late calls next; infinite if none runs. */
	#watchedUntil = Number.POSITIVE_INFINITY;
	#disposed = false;

	constructor(options: {
		readonly layer: CacheHost["layer"];
		readonly host: string;
		/** For each call, connecting included, by the listening clock. */
		readonly deadlineMs: number;
		/** The longest pause between two attempts to reach a host that is down. */
		readonly longestPauseMs?: number;
		/** Begins to connect. */
		readonly open: (events: ConnectionEvents) => C;
		/** A call succeeded after others had failed. */
		readonly onUp?: () => void;
		/** Whether the host answered, and refuses this call alone: the connection is good. */
		readonly isRefusal?: (error: unknown) => error is Error;
	}) {
		this.host = options.host;
		this.#layer = options.layer;
		this.#deadlineMs = options.deadlineMs;
		this.#open = options.open;
		this.#onUp = options.onUp ?? (() => {});
		this.#isRefusal = options.isRefusal ?? isNoRefusal;
		this.#breaker = new Breaker(undefined, options.longestPauseMs);
	}

	/** The result of `run`; null if the host is skipped, failed, refused or was late. */
	call<T>(
		verb: CacheCall["verb"],
		keys: number,
		run: (connection: C) => Promise<T>,
		options?: {
			readonly deadlineMs?: number;
			/** No request waits for this call: it may find out whether a host that was down is back. */
			readonly isProbe?: boolean;
		},
	): Promise<T | null> {
		if (
			this.#disposed ||
			this.#isFull() ||
			!this.#breaker.enter(options?.isProbe)
		) {
			return SKIPPED;
		}
		const connection = this.#connect();
		const started = performance.now();
		const since = listening.now();
		const deadlineMs = options?.deadlineMs ?? this.#deadlineMs;
		return new Promise((resolve) => {
			const end = (ok: boolean, result: T | null) => {
				this.#running.delete(call);
				if (this.#running.size === 0) this.#unwatch();
				// Former tables of the set refer to it until old garbage is collected.
				call.late = null;
				if (CACHE_CHANNELS.cacheCall.hasSubscribers) {
					CACHE_CHANNELS.cacheCall.publish({
						layer: this.#layer,
						host: this.host,
						verb,
						keys,
						ms: performance.now() - started,
						ok,
					});
				}
				resolve(result);
			};
			const fail = (error: unknown) => {
				// It was late.
				if (!this.#running.has(call)) return;
				if (this.#isRefusal(error)) {
					this.#answered(connection);
					this.#reportRefusal(verb, error);
				} else this.#drop(connection, error);
				end(false, null);
			};
			const call: RunningCall = {
				since,
				until: since + deadlineMs,
				late: () => fail(timeoutError(deadlineMs)),
			};
			this.#running.add(call);
			this.#watch(call.until, since);
			run(connection).then((result) => {
				if (!this.#running.has(call)) return;
				this.#answered(connection);
				end(true, result);
			}, fail);
		});
	}

	/** Once for all calls that run: at the earliest end, and then again at the next. */
	#watch(until: number, now: number): void {
		if (until >= this.#watchedUntil) return;
		this.#watchedUntil = until;
		this.#stopWatching();
		this.#stopWatching = listening.after(until - now, () => this.#endLate());
	}

	/** While no call runs: the clock would wake the process every 10 ms. */
	#unwatch(): void {
		this.#stopWatching();
		this.#watchedUntil = Number.POSITIVE_INFINITY;
	}

	#endLate(): void {
		const now = listening.now();
		let next = Number.POSITIVE_INFINITY;
		this.#watchedUntil = next;
		for (const call of this.#running) {
			if (call.until <= now) call.late?.();
			else next = Math.min(next, call.until);
		}
		if (next !== Number.POSITIVE_INFINITY) this.#watch(next, now);
	}

	/** Many calls run because the host hangs, and not because the process is busy: they were listened for. */
	#isFull(): boolean {
		if (this.#running.size < MAX_RUNNING) return false;
		const [oldest] = this.#running;
		return (
			oldest !== undefined &&
			2 * (listening.now() - oldest.since) >= this.#deadlineMs
		);
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
				if (this.#running.size > 0) this.#drop(connection, error);
				else this.#connection = undefined;
			},
			replaced: () => {
				if (this.#connection === connection) this.#connection = undefined;
			},
		});
		this.#connection = connection;
		return connection;
	}

	#answered(connection: C): void {
		if (this.#failed.has(connection) || !this.#breaker.succeeded()) return;
		this.#report("up");
		this.#onUp();
	}

	/** All calls that run on the connection count as one failure. */
	#drop(connection: C, error: unknown): void {
		if (this.#disposed || this.#failed.has(connection)) return;
		this.#failed.add(connection);
		if (this.#connection === connection) this.#connection = undefined;
		if (this.#breaker.failed()) this.#report("down", error);
		connection.close(error);
	}

	/** Once for each kind: it may be refused with each request. */
	#reportRefusal(verb: CacheCall["verb"], error: Error): void {
		const [word] = error.message.split(" ", 1);
		const kind = `${verb} ${word}`;
		const now = performance.now();
		const last = this.#refused.get(kind) ?? Number.NEGATIVE_INFINITY;
		if (now - last < REPEAT_REFUSAL_MS) return;
		this.#refused.set(kind, now);
		CACHE_CHANNELS.cacheRefusal.publish({
			layer: this.#layer,
			host: this.host,
			verb,
			error,
		});
	}

	#report(state: CacheHost["state"], error?: unknown): void {
		CACHE_CHANNELS.cacheHost.publish({
			layer: this.#layer,
			host: this.host,
			state,
			...(error !== undefined && { error }),
		});
	}
}

interface RunningCall {
	/** By the listening clock. */
	readonly since: number;
	readonly until: number;
	/** Ends it. */
	late: (() => void) | null;
}

const SKIPPED = Promise.resolve(null);

function isNoRefusal(_: unknown): _ is Error {
	return false;
}

/** After ten minutes a refusal is said again. */
const REPEAT_REFUSAL_MS = 600_000;

/** While a host hangs, callers above this do without the cache. */
const MAX_RUNNING = 256;

function timeoutError(ms: number): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		`The cache did not respond within ${Math.round(ms)} ms.`,
		{ details: { isLate: true } },
	);
}

/** Whether nothing came in time. */
export function isLate(error: unknown): boolean {
	return error instanceof CorkboardError && error.details.isLate === true;
}
