/**
 * A clock that runs only while this process listens: milliseconds in which it
 * would have read an answer. Between two readings of the sockets it counts 10 ms
 * at most, however long the turn of the event loop took, so a process that is
 * busy or was paused does not take its own lateness for that of somebody else.
 *
 * A process that waits for 100 ms by this clock has read its sockets ten times
 * since, or waited for 100 ms. That leaves room for the turns that an answer takes: one
 * in which the request goes out, one in which the answer arrives, one in which
 * it is read, and the same for each round trip of a connection that is opened.
 */
export class ListeningClock {
	readonly #waits = new Set<Wait>();
	#listenedMs = 0;
	/** Until when that was counted, in milliseconds of `performance.now()`. */
	#countedTo = performance.now();
	#timer: NodeJS.Timeout | undefined;

	now(): number {
		const ms = performance.now() - this.#countedTo;
		return this.#listenedMs + Math.min(TURN_MS, ms);
	}

	/** Calls `end` so many milliseconds of listening from now, right after sockets were read. Returns what cancels that. */
	after(ms: number, end: () => void): () => void {
		const wait = { until: this.now() + ms, end };
		// What passed while nobody waited need not be counted.
		if (this.#waits.size === 0) this.#count();
		this.#waits.add(wait);
		this.#timer ??= this.#startTimer(ms);
		return () => {
			this.#waits.delete(wait);
			if (this.#waits.size > 0) return;
			clearTimeout(this.#timer);
			this.#timer = undefined;
		};
	}

	/** Timers run first in a turn of the event loop, then sockets are read, and then comes what `setImmediate` was given. */
	#startTimer(ms: number): NodeJS.Timeout {
		return setTimeout(
			() => setImmediate(() => this.#tick()),
			Math.max(0, Math.min(TURN_MS, ms)),
		);
	}

	#tick(): void {
		this.#timer = undefined;
		this.#count();
		let next = TURN_MS;
		for (const wait of this.#waits) {
			const leftMs = wait.until - this.#listenedMs;
			if (leftMs > 0) {
				next = Math.min(next, leftMs);
				continue;
			}
			this.#waits.delete(wait);
			wait.end();
		}
		if (this.#waits.size > 0) this.#timer ??= this.#startTimer(next);
	}

	#count(): void {
		this.#listenedMs = this.now();
		this.#countedTo = performance.now();
	}
}

interface Wait {
	/** By the clock. */
	readonly until: number;
	readonly end: () => void;
}

const TURN_MS = 10;

/** That of the process: it has one event loop. */
export const listening = new ListeningClock();
