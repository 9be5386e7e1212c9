import { type PendingBatch, PendingKeys } from "./pendingKeys.ts";

/**
 * Deletes that one host of a shared cache has not acknowledged. The host may
 * still hold the old values, so until it acknowledges, readers of this process
 * skip it for these keys: they read the database and fill nothing.
 *
 *     delete ──acknowledged──▶ forgotten
 *        └──refused or late──▶ retried after 50 ms, doubled up to 1 s, and as
 *                              soon as any other call reaches the host
 *
 * A delete that arrives late, or twice, removes a newer value: that costs a read.
 *
 * The retries are the probes of a host that is down: they pass its breaker, so
 * that no reader has to wait to find out that the host is back.
 */
export class PendingDeletes implements Disposable {
	readonly #keys: PendingKeys;
	readonly #send: (
		keys: readonly string[],
		isProbe: boolean,
	) => Promise<boolean>;
	#pauseMs = FIRST_PAUSE_MS;
	#timer: NodeJS.Timeout | undefined;
	#isRetrying = false;
	#isDisposed = false;

	constructor(options: {
		/** Whether the host acknowledged. Never rejects. */
		readonly send: (
			keys: readonly string[],
			isProbe: boolean,
		) => Promise<boolean>;
		/** How long a value or a lease may stay in the host. */
		readonly maxAgeMs: number;
		readonly maxKeys?: number;
	}) {
		this.#send = options.send;
		this.#keys = new PendingKeys({
			maxKeys: options.maxKeys ?? MAX_PENDING_DELETES,
			maxAgeMs: options.maxAgeMs,
		});
	}

	get isEmpty(): boolean {
		return this.#keys.isEmpty;
	}

	/** Whether readers have to skip the host for this key. */
	has(key: string): boolean {
		return this.#keys.has(key);
	}

	/** Whether the host acknowledged. If not, the delete is retried. The keys are pending from the call on. */
	async delete(keys: readonly string[]): Promise<boolean> {
		const acknowledged = await this.#attempt(this.#keys.start(keys), false);
		if (acknowledged) this.retry();
		else this.#schedule();
		return acknowledged;
	}

	/** Waits at most so long until no delete of the keys is pending. Returns whether none is. */
	untilDone(keys: readonly string[], ms: number): Promise<boolean> {
		return this.#keys.untilDone(keys, ms);
	}

	/** The host may be back. */
	retry(): void {
		if (this.#keys.isEmpty || this.#isRetrying || this.#isDisposed) return;
		clearTimeout(this.#timer);
		this.#timer = undefined;
		void this.#retryAll();
	}

	async #retryAll(): Promise<void> {
		this.#isRetrying = true;
		let batch = this.#keys.next(BATCH);
		while (batch?.kind === "keys" && (await this.#attempt(batch, true))) {
			batch = this.#keys.next(BATCH);
		}
		this.#isRetrying = false;
		// Even if it had to stop at "all": that ends by its age alone.
		if (batch !== null) this.#schedule();
		else this.#pauseMs = FIRST_PAUSE_MS;
	}

	async #attempt(batch: PendingBatch, isProbe: boolean): Promise<boolean> {
		const acknowledged =
			batch.kind === "keys" && (await this.#send(batch.keys, isProbe));
		if (acknowledged) this.#keys.done(batch);
		else this.#keys.failed(batch);
		return acknowledged;
	}

	#schedule(): void {
		if (this.#timer !== undefined || this.#isRetrying || this.#isDisposed) {
			return;
		}
		this.#timer = setTimeout(() => this.retry(), this.#pauseMs).unref();
		this.#pauseMs = Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS);
	}

	[Symbol.dispose](): void {
		this.#isDisposed = true;
		clearTimeout(this.#timer);
	}
}

/** Most pending deletes of one host, about ten megabytes. Above that, readers skip the whole host until its values have aged. */
const MAX_PENDING_DELETES = 100_000;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** Keys in one retry. */
const BATCH = 500;
