import { performance } from "node:perf_hooks";
import type { Refusals } from "../http/refusals.ts";

/** What a request gets that finds no place. */
export const NO_PLACE = [
	"UNAVAILABLE",
	"The server has as many requests in progress as it may. Retry in 1 s.",
] as const;

/** While the event loop is busy: the part of the limit, and at least so many. */
const BUSY_SHARE = 1 / 8;
const BUSY_LEAST = 64;

/**
 * Limits the requests that a process carries out at a time, from the last byte
 * of their body to the first of their response: neither a client that sends
 * slowly nor one that reads slowly takes a place.
 *
 * Of a process whose event loop is busy, each further request makes all others
 * later: it takes an eighth of the limit, about as many as it can answer before
 * their clients give up. Requests that wait for a host take no time from the
 * others, so that one which answers late does not use up the places of all.
 */
export class RequestsInProgress {
	readonly #limit: number;
	readonly #limitWhenBusy: number;
	readonly #refusals: Refusals;
	readonly #isBusy: () => boolean;
	#count = 0;

	constructor(
		limit: number,
		refusals: Refusals,
		/** Whether the event loop has no time left. */
		isBusy: () => boolean = new EventLoopLoad().isBusy,
	) {
		this.#limit = limit;
		this.#limitWhenBusy = Math.min(
			limit,
			Math.max(BUSY_LEAST, Math.floor(limit * BUSY_SHARE)),
		);
		this.#refusals = refusals;
		this.#isBusy = isBusy;
	}

	get count(): number {
		return this.#count;
	}

	get hasPlace(): boolean {
		return (
			this.#count < this.#limitWhenBusy ||
			(this.#count < this.#limit && !this.#isBusy())
		);
	}

	/** How many it takes now. */
	get limit(): number {
		return this.#isBusy() ? this.#limitWhenBusy : this.#limit;
	}

	/** Whether there is no place; counted as a refusal then. */
	isFull(): boolean {
		if (this.hasPlace) return false;
		this.#refusals.count("requests");
		return true;
	}

	enter(): void {
		this.#count++;
	}

	leave(): void {
		this.#count--;
	}
}

/** The part of a time. */
const BUSY = 0.9;
/** Shorter than a client notices, longer than a turn of the event loop. Milliseconds. */
const WINDOW_MS = 100;

/** How much of its time the event loop of this thread works. Measured when somebody asks. */
class EventLoopLoad {
	#since = performance.eventLoopUtilization();
	#wasBusy = false;

	/** Of the last window that has ended. */
	readonly isBusy = (): boolean => {
		const now = performance.eventLoopUtilization();
		const active = now.active - this.#since.active;
		const all = active + now.idle - this.#since.idle;
		if (all >= WINDOW_MS) {
			this.#wasBusy = active >= all * BUSY;
			this.#since = now;
		}
		return this.#wasBusy;
	};
}
