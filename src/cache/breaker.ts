/**
 * Keeps callers from waiting for a host that just failed.
 *
 *     closed ──failed──▶ open ──pause over──▶ probing ──succeeded──▶ closed
 *                         ▲                      │
 *                         └───────failed─────────┘  (the pause doubles)
 *
 * One failure opens it: a host that is slow or gone is to cost a bounded wait
 * once (PROTOCOLS §3 "Bounded harm"), and what is lost by a false alarm is a
 * tenth of a second of cache. While probing one call goes through, and the
 * others are refused until it has its answer.
 */
export class Breaker {
	readonly #now: () => number;
	/** When the next call may go through; undefined while closed, Infinity while probing. */
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

	/** Whether to make a call. Whoever is told yes has to tell how it went. */
	enter(): boolean {
		if (this.#until === undefined) return true;
		if (this.#now() < this.#until) return false;
		this.#until = Number.POSITIVE_INFINITY;
		return true;
	}

	/** Answers whether it was not closed before. */
	succeeded(): boolean {
		const reopened = this.#until !== undefined;
		this.#until = undefined;
		this.#pause = FIRST_PAUSE_MS;
		return reopened;
	}

	/** Answers whether it was closed before. */
	failed(): boolean {
		const first = this.#until === undefined;
		this.#until = this.#now() + this.#pause;
		this.#pause = Math.min(this.#pause * 2, this.#longestPauseMs);
		return first;
	}
}

export const FIRST_PAUSE_MS = 100;
export const LONGEST_PAUSE_MS = 5_000;
