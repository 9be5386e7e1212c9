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
 *
 * The pause is short again only after it was closed for as long as the longest
 * one. So a host that is late with some calls and not with others does not go down
 * and up, with a new connection each time, ten times a second.
 */
export class Breaker {
	readonly #now: () => number;
	/** When the next call may go through; undefined while closed, Infinity while half-open. */
	#until: number | undefined;
	#pause = FIRST_PAUSE_MS;
	#closedAt = Number.NEGATIVE_INFINITY;
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
		if (this.#until === undefined) return false;
		this.#until = undefined;
		this.#closedAt = this.#now();
		return true;
	}

	/** Returns whether this opened it from closed. */
	failed(): boolean {
		const opened = this.#until === undefined;
		const now = this.#now();
		if (opened && now - this.#closedAt >= this.#longestPauseMs) {
			this.#pause = FIRST_PAUSE_MS;
		}
		this.#until = now + this.#pause;
		this.#pause = Math.min(this.#pause * 2, this.#longestPauseMs);
		return opened;
	}
}

export const FIRST_PAUSE_MS = 100;
export const LONGEST_PAUSE_MS = 5_000;
