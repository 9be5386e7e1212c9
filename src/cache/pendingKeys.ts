/** Some of the pending keys, on their way to the server that has to acknowledge them. */
export type PendingBatch =
	| {
			readonly kind: "keys";
			readonly keys: readonly string[];
			readonly order: number;
	  }
	/** More keys than are kept one by one. */
	| { readonly kind: "all"; readonly order: number };

/**
 * Keys of invalidations that were not acknowledged yet: by the invalidation
 * channel (invalidationChannel.ts) or by a host of a shared cache
 * (pendingDeletes.ts).
 *
 *     start ──▶ on its way ──done──▶ forgotten
 *                 ▲     │ failed
 *            next └── to be repeated ── after maxAgeMs ──▶ forgotten
 *
 * A key may change again while it is on its way. Each start has a number, its
 * order, and an acknowledgement covers only what was started before it was sent.
 *
 * Above `maxKeys` that failed, "all" stands for these. A key is forgotten after
 * `maxAgeMs`: by then nothing holds a value that was read before its change.
 */
export class PendingKeys {
	readonly #keys = new Map<string, PendingKey>();
	#all: { readonly at: number; readonly order: number } | undefined;
	#order = 0;
	/** How many of `#keys` have failed. */
	#failed = 0;
	readonly #waiting = new Set<() => void>();
	readonly #maxKeys: number;
	readonly #maxAgeMs: number;
	readonly #now: () => number;

	constructor(options: {
		readonly maxKeys: number;
		readonly maxAgeMs: number;
		readonly now?: () => number;
	}) {
		this.#maxKeys = options.maxKeys;
		this.#maxAgeMs = options.maxAgeMs;
		this.#now = options.now ?? (() => performance.now());
	}

	get isEmpty(): boolean {
		return this.#keys.size === 0 && this.#all === undefined;
	}

	has(key: string): boolean {
		return this.#all !== undefined || this.#keys.has(key);
	}

	/** The keys changed just now and are sent for the first time: call `done` or `failed` with the result. */
	start(keys: readonly string[]): PendingBatch {
		const at = this.#now();
		const order = ++this.#order;
		for (const key of keys) {
			// In the order of their times.
			this.#forget(key);
			this.#keys.set(key, { at, order, failed: false });
		}
		return { kind: "keys", keys, order };
	}

	/** At most `max` keys that failed, to be sent again: call `done` or `failed` with the result. Null if there are none. */
	next(max: number): PendingBatch | null {
		this.#dropExpired();
		const order = this.#order;
		if (this.#all !== undefined) return { kind: "all", order };
		if (this.#failed === 0) return null;
		const keys: string[] = [];
		for (const [key, pending] of this.#keys) {
			if (keys.length === max) break;
			if (!pending.failed) continue;
			pending.failed = false;
			this.#failed--;
			keys.push(key);
		}
		return keys.length === 0 ? null : { kind: "keys", keys, order };
	}

	/** The batch was acknowledged. */
	done(batch: PendingBatch): void {
		const { order } = batch;
		if (batch.kind === "all") {
			if (this.#all !== undefined && this.#all.order <= order) {
				this.#all = undefined;
			}
		}
		for (const key of batch.kind === "all" ? this.#keys.keys() : batch.keys) {
			const pending = this.#keys.get(key);
			if (pending !== undefined && pending.order <= order) this.#forget(key);
		}
		this.#wake();
	}

	/** The batch was not acknowledged. A key that is not pending any more was covered by another batch, sent after this one. */
	failed(batch: PendingBatch): void {
		if (batch.kind === "all") return;
		for (const key of batch.keys) {
			const pending = this.#keys.get(key);
			if (pending === undefined || pending.failed) continue;
			if (pending.order > batch.order) continue;
			pending.failed = true;
			this.#failed++;
		}
		if (this.#failed > this.#maxKeys) this.#dropExpired();
		if (this.#failed > this.#maxKeys) this.#mergeFailed();
	}

	/** Waits at most so long until none of the keys is pending. Returns whether none is. */
	async untilDone(keys: readonly string[], ms: number): Promise<boolean> {
		const areDone = () => !keys.some((key) => this.has(key));
		if (areDone() || ms <= 0) return areDone();
		return new Promise((resolve) => {
			const end = () => {
				clearTimeout(timer);
				this.#waiting.delete(check);
				resolve(areDone());
			};
			const check = () => {
				if (areDone()) end();
			};
			const timer = setTimeout(end, ms);
			this.#waiting.add(check);
		});
	}

	#mergeFailed(): void {
		let { at, order } = this.#all ?? { at: Number.NEGATIVE_INFINITY, order: 0 };
		for (const [key, pending] of this.#keys) {
			if (!pending.failed) continue;
			at = Math.max(at, pending.at);
			order = Math.max(order, pending.order);
			this.#forget(key);
		}
		this.#all = { at, order };
	}

	#forget(key: string): void {
		if (this.#keys.get(key)?.failed) this.#failed--;
		this.#keys.delete(key);
	}

	#dropExpired(): void {
		const oldest = this.#now() - this.#maxAgeMs;
		for (const [key, { at }] of this.#keys) {
			if (at > oldest) break;
			this.#forget(key);
		}
		// The latest change that it stands for has aged too.
		if (this.#all !== undefined && this.#all.at <= oldest) {
			this.#all = undefined;
		}
		this.#wake();
	}

	#wake(): void {
		for (const check of this.#waiting) check();
	}
}

interface PendingKey {
	/** When it changed. */
	readonly at: number;
	/** The order of its latest start. */
	readonly order: number;
	failed: boolean;
}
