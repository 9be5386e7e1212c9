import { MAX_AGE_MS } from "./localCache.ts";

/** Keys that other processes may still cache, each with the time of its change (`performance.now`). */
export type PendingBatch =
	| {
			readonly kind: "keys";
			readonly keys: readonly (readonly [key: string, at: number])[];
	  }
	/** More keys than are kept one by one. */
	| { readonly kind: "all"; readonly at: number };

/**
 * Invalidations that the channel could not send. The sender takes a batch, and
 * adds it again if it fails once more. A key is dropped after `MAX_AGE_MS`: by
 * then no local cache holds a value that was read before the change.
 */
export class PendingInvalidations {
	readonly #keys = new Map<string, number>();
	#allAt: number | undefined;
	readonly #now: () => number;

	constructor(now: () => number = () => performance.now()) {
		this.#now = now;
	}

	add(batch: PendingBatch): void {
		if (batch.kind === "all") {
			this.#addAll(batch.at);
			return;
		}
		for (const [key, at] of batch.keys) {
			if (this.#allAt !== undefined) {
				this.#addAll(at);
				continue;
			}
			this.#keys.set(key, Math.max(at, this.#keys.get(key) ?? at));
			if (this.#keys.size <= MAX_PENDING_KEYS) continue;
			this.#dropExpired();
			if (this.#keys.size > MAX_PENDING_KEYS) this.#addAll(at);
		}
	}

	/** Removes and returns at most `max` keys; null if nothing is pending. */
	take(max: number): PendingBatch | null {
		this.#dropExpired();
		if (this.#allAt !== undefined) {
			const at = this.#allAt;
			this.#allAt = undefined;
			return { kind: "all", at };
		}
		const keys: [key: string, at: number][] = [];
		for (const entry of this.#keys) {
			if (keys.length === max) break;
			keys.push(entry);
			this.#keys.delete(entry[0]);
		}
		return keys.length === 0 ? null : { kind: "keys", keys };
	}

	/** "All" stays pending until the latest change it stands for has aged. */
	#addAll(at: number): void {
		let latest = Math.max(at, this.#allAt ?? at);
		for (const other of this.#keys.values()) latest = Math.max(latest, other);
		this.#keys.clear();
		this.#allAt = latest;
	}

	#dropExpired(): void {
		const oldest = this.#now() - MAX_AGE_MS;
		for (const [key, at] of this.#keys) {
			if (at <= oldest) this.#keys.delete(key);
		}
		if (this.#allAt !== undefined && this.#allAt <= oldest) {
			this.#allAt = undefined;
		}
	}
}

/** 50 messages, about half a megabyte. Above that it is cheaper for subscribers to empty their caches. */
export const MAX_PENDING_KEYS = 5_000;
