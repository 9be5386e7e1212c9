import type { CorkboardError } from "../errors.ts";
import type { Topology } from "../topology/types.ts";
import { OpenShards } from "./openShards.ts";
import type {
	OpenedStorage,
	Storage,
	StorageAdmin,
	StorageMap,
} from "./storage.ts";

/** The storage of one version. A replaced one closes when its last call ends. */
export class TopologyVersion {
	readonly topology: Topology;
	readonly storage: Storage;
	readonly map: StorageMap;
	/** Its calls count as those of requests do. */
	readonly admin: StorageAdmin;
	readonly #open: OpenShards | null;
	/** Hosts that refuse writes, and since when: a time of `performance.now()`. */
	readonly #refusing = new Map<string, number>();
	#calls = 0;
	#onIdle: (() => void) | null = null;
	#closing: Promise<void> | null = null;

	constructor(
		topology: Topology,
		storage: OpenedStorage,
		tablesMs: number | null,
		/** Open in the version before; null: this is the first. */
		before: ReadonlySet<number> | null,
	) {
		this.topology = topology;
		this.storage = storage;
		const { admin } = storage;
		const use = <A extends unknown[], T>(call: (...given: A) => Promise<T>) => {
			return (...given: A) => this.use(() => call(...given));
		};
		this.admin = {
			inspectHosts: use(admin.inspectHosts),
			settings: use(admin.settings),
			missingTables: use(admin.missingTables),
			tables: admin.tables,
			createTables: use(admin.createTables),
		};
		const open =
			tablesMs === null
				? null
				: new OpenShards(topology, this.admin.missingTables, before, tablesMs);
		this.#open = open;
		this.map =
			open === null
				? storage.map
				: {
						...storage.map,
						get openShards() {
							return open.shards;
						},
					};
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
	accepted(hostIn: (map: StorageMap) => string | null): void {
		if (this.#refusing.size === 0) return;
		this.#refusing.delete(String(hostIn(this.map)));
	}

	async use<T>(body: (storage: Storage) => Promise<T>): Promise<T> {
		this.begin();
		try {
			return await body(this.storage);
		} finally {
			this.end();
		}
	}

	async *walk<Row>(
		batches: AsyncIterable<readonly Row[]>,
	): AsyncGenerator<readonly Row[]> {
		this.begin();
		try {
			yield* batches;
		} finally {
			this.end();
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

	/** A call begins. It says when it ends. */
	begin(): void {
		this.#calls += 1;
	}

	end(): void {
		this.#calls -= 1;
		if (this.#calls === 0) this.#onIdle?.();
	}
}
