import type { OutboxKey, Storage } from "../../storage/storage.ts";

/** How long a delivered entry may stay in the outbox. Milliseconds. */
const WITHIN_MS = 100;

/**
 * Deletes the outbox entries that writes of this process have delivered: those
 * of some moments together, in one round trip for each host. No write waits for
 * it. An entry that is not deleted, because this process ended or its shard did
 * not answer, is delivered again by an outbox worker, which changes nothing.
 */
export class OutboxDeletions implements AsyncDisposable {
	readonly #storage: Storage;
	#keys: OutboxKey[] = [];
	#timer: NodeJS.Timeout | undefined;
	readonly #running = new Set<Promise<void>>();

	constructor(storage: Storage) {
		this.#storage = storage;
	}

	add(keys: readonly OutboxKey[]): void {
		this.#keys.push(...keys);
		this.#timer ??= setTimeout(() => this.#start(), WITHIN_MS).unref();
	}

	/** Resolves when everything that was added is deleted, or has failed to be. */
	async flush(): Promise<void> {
		this.#start();
		await Promise.all(this.#running);
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.flush();
	}

	#start(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		const keys = this.#keys;
		if (keys.length === 0) return;
		this.#keys = [];
		const deleted = this.#storage
			.deleteOutboxEntries(keys)
			// Left to the outbox worker.
			.catch(() => {})
			.finally(() => this.#running.delete(deleted));
		this.#running.add(deleted);
	}
}
