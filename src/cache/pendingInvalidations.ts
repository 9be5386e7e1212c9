import { MAX_AGE_MS } from "./localCache.ts";

/** Changes that others may not have heard of, each with when it was to be told (`performance.now`). */
export type PendingBatch =
	| {
			readonly kind: "keys";
			readonly keys: readonly (readonly [key: string, at: number])[];
	  }
	/** More than were kept one by one. */
	| { readonly kind: "all"; readonly at: number };

/**
 * What the channel could not send, until it can: who sends takes some, and
 * gives back what failed again. Nothing is told longer than it is of use:
 * whatever was read before a change has left every process ten seconds later.
 */
export class PendingInvalidations {
	readonly #keys = new Map<string, number>();
	#allAt: number | undefined;
	readonly #now: () => number;

	constructor(now: () => number = () => performance.now()) {
		this.#now = now;
	}

	add(untold: PendingBatch): void {
		if (untold.kind === "all") {
			this.#keepAll(untold.at);
			return;
		}
		for (const [key, at] of untold.keys) {
			if (this.#allAt !== undefined) {
				this.#keepAll(at);
				continue;
			}
			this.#keys.set(key, Math.max(at, this.#keys.get(key) ?? at));
			if (this.#keys.size <= MAX_PENDING_KEYS) continue;
			this.#dropOld();
			if (this.#keys.size > MAX_PENDING_KEYS) this.#keepAll(at);
		}
	}

	/** At most `most` keys; null where nothing is left. What is taken is no longer kept. */
	take(most: number): PendingBatch | null {
		this.#dropOld();
		if (this.#allAt !== undefined) {
			const at = this.#allAt;
			this.#allAt = undefined;
			return { kind: "all", at };
		}
		const keys: [key: string, at: number][] = [];
		for (const entry of this.#keys) {
			if (keys.length === most) break;
			keys.push(entry);
			this.#keys.delete(entry[0]);
		}
		return keys.length === 0 ? null : { kind: "keys", keys };
	}

	/** It is owed until the latest of what it stands for has aged. */
	#keepAll(at: number): void {
		let latest = Math.max(at, this.#allAt ?? at);
		for (const other of this.#keys.values()) latest = Math.max(latest, other);
		this.#keys.clear();
		this.#allAt = latest;
	}

	#dropOld(): void {
		const oldest = this.#now() - MAX_AGE_MS;
		for (const [key, at] of this.#keys) {
			if (at <= oldest) this.#keys.delete(key);
		}
		if (this.#allAt !== undefined && this.#allAt <= oldest) {
			this.#allAt = undefined;
		}
	}
}

/** Some 50 messages, and half a megabyte; to empty the listeners costs them less than ever more of that. */
export const MAX_PENDING_KEYS = 5_000;
