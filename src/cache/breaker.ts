/**
 * A circuit breaker: keeps callers from waiting for a host that just failed.
 *
 *     closed ──failed──▶ open ──pause over──▶ half-open ──succeeded──▶ closed
 *                         ▲                      │
 *                         └───────failed─────────┘  (the pause doubles)
 *
 * One failure opens it, so that a host that is slow or down costs one bounded
 * wait. A false alarm costs a tenth of a second without the cache. Half-open,
 * one call goes through and the others are refused until it ends.
 */
export class Breaker {
	readonly #now: () => number;
	/** When the next call may go through; undefined while closed, Infinity while half-open. */
	#until: number | undefined;
	#pause = FIRST_PAUSE_MS;
	readonly #longestPauseMs: number;

	constructor(
		now: () => number = () => performance.now(),
		longestPauseMs = LONGEST_PAUSE_MS,
	) {
		this.#now = now;
		this.#longestPauseMs = longestPauseMs;
	}

	/** Whether a call may go through. After true the caller must report `succeeded` or `failed`. A probe does not wait for the end of the pause: nobody waits for the probe. */
	enter(isProbe = false): boolean {
		if (this.#until === undefined) return true;
		const isHalfOpen = this.#until === Number.POSITIVE_INFINITY;
		if (isProbe ? isHalfOpen : this.#now() < this.#until) return false;
		this.#until = Number.POSITIVE_INFINITY;
		return true;
	}

	/** Returns whether this closed it. */
	succeeded(): boolean {
		const closed = this.#until !== undefined;
		this.#until = undefined;
		this.#pause = FIRST_PAUSE_MS;
		return closed;
	}

	/** Returns whether this opened it from closed. */
	failed(): boolean {
		const opened = this.#until === undefined;
		this.#until = this.#now() + this.#pause;
		this.#pause = Math.min(this.#pause * 2, this.#longestPauseMs);
		return opened;
	}
}

export const FIRST_PAUSE_MS = 100;
export const LONGEST_PAUSE_MS = 5_000;
