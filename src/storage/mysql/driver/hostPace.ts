/**
 * How long a host takes for an answer now. Waits follow it: a host that takes three
 * seconds for everything, during a backup or on a machine that does much else, is
 * slow and not down.
 */
export class HostPace {
	readonly #now: () => number;
	readonly #onAnswer: () => void;
	#receivedAt = Number.NEGATIVE_INFINITY;
	#slowestMs = 0;
	#slowestAt = Number.NEGATIVE_INFINITY;
	/** What the last answers took, the newest last. Milliseconds. */
	readonly #last: number[] = [];

	/** `onAnswer` is called with each answer to a statement, on any connection. */
	constructor(
		onAnswer: () => void = () => {},
		now: () => number = () => performance.now(),
	) {
		this.#onAnswer = onAnswer;
		this.#now = now;
	}

	/** Bytes came from the host. */
	received(): void {
		this.#receivedAt = this.#now();
	}

	/** A statement was answered after so many milliseconds, with an error or without. */
	answered(ms: number): void {
		const now = this.#now();
		this.#receivedAt = now;
		this.#last.push(ms);
		if (this.#last.length > LAST_ANSWERS) this.#last.shift();
		if (ms >= this.#slowestMs || now - this.#slowestAt > REMEMBERED_MS) {
			this.#slowestMs = ms;
			this.#slowestAt = now;
		}
		this.#onAnswer();
	}

	/**
	 * What an answer takes at the least: the quickest of the last few. A host on which
	 * everything is slow has no quick one; one of which a statement waits for a lock has.
	 */
	get leastMs(): number {
		return this.#last.length < LAST_ANSWERS ? 0 : Math.min(...this.#last);
	}

	/** Whether something came from the host since then, by `performance.now()`. */
	hasSpokenSince(at: number): boolean {
		return this.#receivedAt >= at;
	}

	/** How long to wait for one answer: at least so long, and twice as long as the slowest answer took of late. */
	patience(leastMs: number): number {
		const isRecent = this.#now() - this.#slowestAt <= REMEMBERED_MS;
		const slowestMs = isRecent ? this.#slowestMs : 0;
		return Math.max(leastMs, Math.min(2 * slowestMs, LONGEST_MS));
	}
}

/** What was slow once, such as a wait for a lock, says nothing of a later time. */
const REMEMBERED_MS = 30_000;
const LAST_ANSWERS = 4;
/** As long as a request takes. */
const LONGEST_MS = 10_000;
