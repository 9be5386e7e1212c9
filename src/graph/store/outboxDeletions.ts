import type { OutboxKey } from "../../storage/rows.ts";
import type { Storage } from "../../storage/storage.ts";

/** How long a delivered entry may stay in the outbox. Milliseconds. */
const WITHIN_MS = 100;
/** After a deletion that failed: the shard may be down, or busy. Milliseconds. */
const RETRY_MS = 1_000;
/** More than this are left to the outbox workers. */
const MAX_KEYS = 10_000;

/**
 * Deletes the outbox entries that writes of this process have delivered: those
 * of some moments together, in one round trip for each host. No write waits for
 * it. An entry that is not deleted in time, because this process ended or its shard
 * did not answer, is delivered again by an outbox worker, which changes nothing.
 *
 * Nor is one deleted whose shard has another primary since: a replica that was
 * promoted before it had received the entry gives its local id to another one.
 */
export class OutboxDeletions implements AsyncDisposable {
	readonly #storage: Storage;
	#keys: Delivered[] = [];
	#timer: NodeJS.Timeout | undefined;
	readonly #running = new Set<Promise<void>>();
	#isDisposed = false;

	constructor(storage: Storage) {
		this.#storage = storage;
	}

	/** After its end nothing is added: a delivery may continue while the storage is being closed. */
	add(keys: readonly OutboxKey[]): void {
		if (this.#isDisposed) return;
		for (const { shard, local } of keys) {
			this.#keys.push({ shard, local, host: this.#storage.map.hostOf(shard) });
		}
		this.#startSoon(WITHIN_MS);
	}

	/** Resolves when everything that was added is deleted, or has failed to be. */
	async flush(): Promise<void> {
		this.#start();
		await Promise.all(this.#running);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#isDisposed = true;
		await this.flush();
	}

	#startSoon(ms: number): void {
		this.#timer ??= setTimeout(() => this.#start(), ms).unref();
	}

	#start(): void {
		clearTimeout(this.#timer);
		this.#timer = undefined;
		const keys = this.#keys.filter(
			({ shard, host }) => this.#storage.map.hostOf(shard) === host,
		);
		this.#keys = [];
		if (keys.length === 0) return;
		const deleted = this.#storage
			.deleteOutboxEntries(keys.map(({ shard, local }) => ({ shard, local })))
			.catch(() => {
				if (this.#isDisposed) return;
				this.#keys = [...keys, ...this.#keys].slice(-MAX_KEYS);
				this.#startSoon(RETRY_MS);
			})
			.finally(() => this.#running.delete(deleted));
		this.#running.add(deleted);
	}
}

interface Delivered extends OutboxKey {
	/** The primary of its shard when it was delivered. */
	readonly host: string | null;
}
