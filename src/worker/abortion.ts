/**
 * Whether a job is to stop, and why. Its `AbortSignal` is made when a handler
 * asks for it: most jobs are over before anybody does, and the signal costs
 * more than the rest of a short job.
 */
export class Abortion {
	#controller: AbortController | undefined;
	#reason: Error | undefined;
	readonly #listeners: ((reason: Error) => void)[] = [];

	/** Why; undefined while it is not aborted. */
	get reason(): Error | undefined {
		return this.#reason;
	}

	get signal(): AbortSignal {
		if (this.#controller === undefined) {
			this.#controller = new AbortController();
			if (this.#reason !== undefined) this.#controller.abort(this.#reason);
		}
		return this.#controller.signal;
	}

	/** The first reason stands. */
	abort(reason: Error): void {
		if (this.#reason !== undefined) return;
		this.#reason = reason;
		this.#controller?.abort(reason);
		for (const listener of this.#listeners) listener(reason);
	}

	/** Calls back when it is aborted. */
	onAbort(listener: (reason: Error) => void): void {
		this.#listeners.push(listener);
	}
}
