import type { SharedCache } from "../cache/sharedCache.ts";

interface KeyBatch {
	readonly keys: Set<string>;
	readonly acknowledged: Promise<boolean>;
}

/**
 * Deletes of writes that come to this step together, as those do that share a
 * database transaction: one call for each host of a shared cache. One key that is
 * not acknowledged is that of all whose keys are on its host.
 */
export class InvalidationBatches {
	readonly #cache: SharedCache;
	readonly #batches = new Map<string, KeyBatch>();

	constructor(cache: SharedCache) {
		this.#cache = cache;
	}

	/** Whether the hosts of all keys acknowledged. Never rejects. */
	add(keys: readonly string[]): Promise<boolean> {
		const hosts = new Set(keys.map((key) => this.#addToHost(key)));
		const [first] = hosts;
		// Mostly one host has all keys.
		if (first !== undefined && hosts.size === 1) return first;
		return Promise.all(hosts).then((all) => all.every(Boolean));
	}

	#addToHost(key: string): Promise<boolean> {
		const host = this.#cache.hostOf(key);
		const open = this.#batches.get(host);
		if (open !== undefined) {
			open.keys.add(key);
			return open.acknowledged;
		}
		const keys = new Set([key]);
		const acknowledged = new Promise<boolean>((resolve) => {
			// When all that is to be done now is done, and before anything is received.
			process.nextTick(() => {
				this.#batches.delete(host);
				resolve(this.#cache.delete([...keys]));
			});
		});
		this.#batches.set(host, { keys, acknowledged });
		return acknowledged;
	}
}
