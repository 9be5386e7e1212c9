import type { Refusals } from "../http/refusals.ts";

/**
 * Limits the requests that a process carries out at a time, from the last byte
 * of their body to the first of their response: neither a client that sends
 * slowly nor one that reads slowly takes a place.
 */
export class RequestsInProgress {
	readonly #limit: number;
	readonly #refusals: Refusals;
	#count = 0;

	constructor(limit: number, refusals: Refusals) {
		this.#limit = limit;
		this.#refusals = refusals;
	}

	get count(): number {
		return this.#count;
	}

	get hasPlace(): boolean {
		return this.#count < this.#limit;
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
