interface Waiter<T> {
	readonly signal: AbortSignal;
	readonly giveUp: () => void;
	readonly resolve: (value: T) => void;
	readonly reject: (reason: unknown) => void;
}

/**
 * A call that several wait for. It ends early only when nobody waits any more, and
 * has no one waiter's deadline: one that gives up is rejected at once, with the
 * reason of its own signal, and the others get the result. Wherever a promise is
 * shared by requests, this stands between it and their signals.
 */
export class SharedCall<T> {
	/** Null until somebody asks for the signal. */
	#all: AbortController | null = null;
	#isAbandoned = false;
	#reason: unknown;
	#result: Promise<T> | null = null;
	readonly #waiters = new Set<Waiter<T>>();
	/** Those who wait without a signal count, and never leave. */
	#waiting = 0;
	#isSettled = false;

	/** Aborted when all have given up. */
	get signal(): AbortSignal {
		this.#all ??= new AbortController();
		if (this.#isAbandoned) this.#all.abort(this.#reason);
		return this.#all.signal;
	}

	/** Whether all who waited have given up: it ends without a result, so it is not to be joined. */
	get isAbandoned(): boolean {
		return this.#isAbandoned;
	}

	/** The call, which was started with `signal`. Before anybody waits. */
	settleWith(result: Promise<T>): void {
		this.#result = result;
		// One promise for all who wait. Nobody may, so a failure is handled here.
		result.then(
			(value) => this.#settle(({ resolve }) => resolve(value)),
			(reason) => this.#settle(({ reject }) => reject(reason)),
		);
	}

	/** The result, for one more. Without a signal, it never gives up. */
	wait(signal?: AbortSignal): Promise<T> {
		// Not one that gives up: the others may still be about to wait.
		if (signal?.aborted) return Promise.reject(signal.reason);
		if (this.#result === null) throw new TypeError("The call was not started.");
		this.#waiting += 1;
		if (signal === undefined || this.#isSettled) return this.#result;
		return new Promise((resolve, reject) => {
			const giveUp = () => {
				reject(signal.reason);
				this.#waiters.delete(waiter);
				this.#waiting -= 1;
				if (this.#waiting > 0) return;
				this.#isAbandoned = true;
				this.#reason = signal.reason;
				this.#all?.abort(signal.reason);
			};
			const waiter = { signal, giveUp, resolve, reject };
			signal.addEventListener("abort", giveUp, { once: true });
			this.#waiters.add(waiter);
		});
	}

	#settle(deliver: (waiter: Waiter<T>) => void): void {
		this.#isSettled = true;
		for (const waiter of this.#waiters) {
			waiter.signal.removeEventListener("abort", waiter.giveUp);
			deliver(waiter);
		}
		this.#waiters.clear();
	}
}
