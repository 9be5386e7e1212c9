import type { CorkboardError } from "../errors.ts";
import type { Topology } from "../topology/types.ts";
import { OpenShards } from "./openShards.ts";
import type { Storage } from "./storage.ts";

/** The storage of one version. A replaced one closes when its last call ends. */
export class TopologyVersion {
	readonly topology: Topology;
	readonly storage: Storage;
	readonly #open: OpenShards | null;
	/** Hosts that refuse writes, and since when: a time of `performance.now()`. */
	readonly #refusing = new Map<string, number>();
	#calls = 0;
	#onIdle: (() => void) | null = null;
	#closing: Promise<void> | null = null;

	constructor(
		topology: Topology,
		storage: Storage,
		tablesMs: number | null,
		/** Open in the version before; null: this is the first. */
		before: ReadonlySet<number> | null,
	) {
		this.topology = topology;
		this.storage = storage;
		this.#open =
			tablesMs === null
				? null
				: new OpenShards(
						topology,
						(shards) => this.use((storage) => storage.missingTables(shards)),
						before,
						tablesMs,
					);
	}

	get openShards(): readonly number[] {
		return this.#open?.shards ?? this.storage.openShards;
	}

	/** Since when the host has refused all writes that are known of. */
	refusedSince(refusal: unknown): number {
		const { host } = (refusal as CorkboardError).details;
		const now = performance.now();
		const since = this.#refusing.get(String(host)) ?? now;
		this.#refusing.set(String(host), since);
		return since;
	}

	/** A host has taken a write. */
	accepted(hostIn: (storage: Storage) => string | null): void {
		if (this.#refusing.size === 0) return;
		this.#refusing.delete(String(hostIn(this.storage)));
	}

	async use<T>(body: (storage: Storage) => Promise<T>): Promise<T> {
		this.#calls += 1;
		try {
			return await body(this.storage);
		} finally {
			this.#ended();
		}
	}

	async *walk<Row>(
		batches: AsyncIterable<readonly Row[]>,
	): AsyncGenerator<readonly Row[]> {
		this.#calls += 1;
		try {
			yield* batches;
		} finally {
			this.#ended();
		}
	}

	/** Closes it after its last call, or after `drainMs`. No new call starts on it. */
	retire(drainMs: number, done: () => void): void {
		this.#open?.[Symbol.dispose]();
		const close = () => {
			clearTimeout(timer);
			// A failure to close has no caller to report it to.
			this.close().then(done, done);
		};
		const timer = setTimeout(close, drainMs);
		if (this.#calls === 0) close();
		else this.#onIdle = close;
	}

	close(): Promise<void> {
		this.#open?.[Symbol.dispose]();
		this.#closing ??= Promise.resolve(this.storage[Symbol.asyncDispose]());
		return this.#closing;
	}

	#ended(): void {
		this.#calls -= 1;
		if (this.#calls === 0) this.#onIdle?.();
	}
}
