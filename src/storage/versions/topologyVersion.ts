import type { CorkboardError } from "../../errors.ts";
import type { Topology } from "../../topology/types.ts";
import type {
	OpenedStorage,
	Storage,
	StorageAdmin,
	StorageMap,
} from "../storage.ts";
import { OpenShards } from "./openShards.ts";

/** What switches to newer versions with the storage of the graph: the databases of queues and of pools. */
export interface TopologyFollower {
	/** New calls go to the hosts of that version. */
	switchTopology(topology: Topology): void;
	/** The oldest version on which a call still runs. */
	readonly oldestVersion: number;
}

/** What is open for one version of the topology. It closes after its last call. */
export class Version<Opened extends AsyncDisposable> implements Disposable {
	/** The version of the topology: the last, where several name the same hosts. */
	number: number;
	readonly opened: Opened;
	#calls = 0;
	#onIdle: (() => void) | null = null;
	#closing: Promise<void> | null = null;

	constructor(number: number, opened: Opened) {
		this.number = number;
		this.opened = opened;
	}

	/** A call begins. It says when it ends, by `end` or as the scope of a `using` ends. */
	begin(): this {
		this.#calls += 1;
		return this;
	}

	end(): void {
		this.#calls -= 1;
		if (this.#calls === 0) this.#onIdle?.();
	}

	[Symbol.dispose](): void {
		this.end();
	}

	/** Closes it after its last call, or after `drainMs`. No new call starts on it. */
	retire(drainMs: number, done: () => void): void {
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
		this.#closing ??= Promise.resolve(this.opened[Symbol.asyncDispose]());
		return this.#closing;
	}
}

/** One version after another. A call ends on the one that it began with. */
export class Versions<One extends Version<AsyncDisposable>>
	implements AsyncDisposable
{
	readonly #drainMs: number;
	readonly #onRetired: () => void;
	readonly #retired = new Set<One>();
	#current: One;

	constructor(
		first: One,
		/** How long the last calls of a replaced version may run before it closes. Milliseconds. */
		drainMs: number,
		/** Called when `oldest` may have risen. */
		onRetired: () => void = () => {},
	) {
		this.#current = first;
		this.#drainMs = drainMs;
		this.#onRetired = onRetired;
	}

	/** New calls start on it. */
	get current(): One {
		return this.#current;
	}

	/** The oldest version of the topology on which a call still runs, or whose connections are still open. */
	get oldest(): number {
		const all = [this.#current, ...this.#retired];
		return Math.min(...all.map(({ number }) => number));
	}

	replace(next: One): void {
		const old = this.#current;
		this.#current = next;
		this.#retired.add(old);
		old.retire(this.#drainMs, () => {
			this.#retired.delete(old);
			this.#onRetired();
		});
	}

	async [Symbol.asyncDispose](): Promise<void> {
		const all = [this.#current, ...this.#retired];
		await Promise.all(all.map((version) => version.close()));
	}
}

/** The storage of the graph in one version. */
export class TopologyVersion extends Version<OpenedStorage> {
	readonly topology: Topology;
	readonly storage: Storage;
	readonly map: StorageMap;
	/** Its calls count as those of requests do. */
	readonly admin: StorageAdmin;
	readonly #open: OpenShards | null;
	/** Hosts that refuse writes, and since when: a time of `performance.now()`. */
	readonly #refusing = new Map<string, number>();

	constructor(
		topology: Topology,
		storage: OpenedStorage,
		tablesMs: number | null,
		/** Open in the version before; null: this is the first. */
		before: ReadonlySet<number> | null,
	) {
		super(topology.version, storage);
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

	override retire(drainMs: number, done: () => void): void {
		this.#open?.[Symbol.dispose]();
		super.retire(drainMs, done);
	}

	override close(): Promise<void> {
		this.#open?.[Symbol.dispose]();
		return super.close();
	}
}
