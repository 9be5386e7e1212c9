/**
 * A call that several wait for. It ends early only when nobody waits any more, and
 * has no one waiter's deadline: one that gives up is rejected at once, with the
 * reason of its own signal, and the others get the result. Wherever a promise is
 * shared by requests, this stands between it and their signals.
 */
export class SharedCall<T> {
	readonly #all = new AbortController();
	readonly #result: Promise<T>;
	#waiting = 0;

	/** `start` is called at once, with the signal that is aborted when all have given up. */
	constructor(start: (signal: AbortSignal) => Promise<T>) {
		this.#result = (async () => start(this.#all.signal))();
		// Those who wait get it; nobody may.
		this.#result.catch(() => {});
	}

	/** Whether all who waited have given up: it ends without a result, so it is not to be joined. */
	get isAbandoned(): boolean {
		return this.#all.signal.aborted;
	}

	/** The result, for one more. Without a signal, it never gives up. */
	wait(signal?: AbortSignal): Promise<T> {
		// Not one that gives up: the others may still be about to wait.
		if (signal?.aborted) return Promise.reject(signal.reason);
		this.#waiting += 1;
		if (signal === undefined) return this.#result;
		return new Promise((resolve, reject) => {
			const giveUp = () => {
				reject(signal.reason);
				this.#waiting -= 1;
				if (this.#waiting === 0) this.#all.abort(signal.reason);
			};
			const stop = () => signal.removeEventListener("abort", giveUp);
			signal.addEventListener("abort", giveUp, { once: true });
			this.#result.then(resolve, reject).finally(stop);
		});
	}
}
