import { CorkboardError } from "../../errors.ts";
import { checkTopologyChange } from "../../topology/checkChange.ts";
import type { Topology } from "../../topology/types.ts";
import type { CallOptions, WriteTrace } from "../../trace.ts";
import { publishRetry } from "../diagnostics.ts";
import { modShard } from "../modShard.ts";
import type { KeyResult, LookupChange, LookupRow } from "../rows.ts";
import type {
	OpenedStorage,
	ReadKey,
	ReadKind,
	ReadResult,
	Storage,
	StorageAdmin,
	StorageMap,
} from "../storage.ts";
import { TopologyVersion, Versions } from "./topologyVersion.ts";

/**
 * Storage whose topology can change while it is used: one storage for each
 * version (docs/consistency.md, 6. Topology). A call finishes on the version it
 * started with. A write that a host refuses because it is read-only, as during
 * a promotion, waits and is retried; reads do not wait. Reads and writes of a
 * shard whose tables are not on its host wait for a newer version, which may
 * say where they are.
 */
export interface ReloadableStorage extends OpenedStorage {
	/** The version on which new calls start. */
	readonly topology: Topology;
	/** The oldest version on which a call still runs, or whose connections are still open. */
	readonly oldestVersion: number;
	/**
	 * Resolves when new calls start on it. Throws BAD_TOPOLOGY if it may not follow
	 * the current one. The current one stays if this throws.
	 */
	switchTopology(topology: Topology): Promise<void>;
}

export interface ReloadableStorageLimits {
	/** How long writes wait for a host that refuses them, counted from its first refusal. After that, further writes fail at once. Milliseconds. */
	readonly waitMs: number;
	/** How long a read waits for a newer version, if the host has no such table. Milliseconds. */
	readonly readWaitMs: number;
	/** Most calls that wait. The next one fails at once. */
	readonly maxWaiting: number;
	/** Writes are retried this often also without a newer version: the host may become writable later. */
	readonly retryMs: number;
	/** How long the last calls of a replaced version may run before its connections are closed. */
	readonly drainMs: number;
	/** How often it looks whether shards that are held have their tables by now (./openShards.ts); null: none are held. */
	readonly tablesMs: number | null;
}

/** VTGate, too, buffers writes for 10 s during a failover. */
const LIMITS: ReloadableStorageLimits = {
	waitMs: 10_000,
	readWaitMs: 1_000,
	maxWaiting: 1_000,
	retryMs: 500,
	drainMs: 30_000,
	tablesMs: null,
};

/** Which reads wait if the host has no such table. The others are of processes that look again by themselves. */
const WAITS: Readonly<Record<ReadKind, boolean>> = {
	objects: true,
	lists: true,
	edges: true,
	renumberings: true,
	counts: true,
	lookups: true,
	longestLists: false,
	entries: false,
	outboxes: false,
	outboxSizes: false,
};

type Open = (topology: Topology) => Promise<OpenedStorage>;

export async function createReloadableStorage(
	open: Open,
	first: Topology,
	limits: Partial<ReloadableStorageLimits> = {},
	/** Called when `oldestVersion` may have risen. */
	onRetired: () => void = () => {},
): Promise<ReloadableStorage> {
	const all = { ...LIMITS, ...limits };
	const { tablesMs } = all;
	const version = new TopologyVersion(first, await open(first), tablesMs, null);
	return new TopologySwitcher(open, version, all, onRetired);
}

class TopologySwitcher implements ReloadableStorage {
	readonly #open: Open;
	readonly #limits: ReloadableStorageLimits;
	readonly #versions: Versions<TopologyVersion>;
	/** Called once each, by a newer version or when the storage closes. */
	readonly #waiting = new Set<() => void>();
	#switching: Promise<unknown> = Promise.resolve();
	#closed = false;

	constructor(
		open: Open,
		first: TopologyVersion,
		limits: ReloadableStorageLimits,
		onRetired: () => void,
	) {
		this.#open = open;
		this.#limits = limits;
		this.#versions = new Versions(first, limits.drainMs, onRetired);
	}

	get #current(): TopologyVersion {
		return this.#versions.current;
	}

	get topology(): Topology {
		return this.#current.topology;
	}

	get oldestVersion(): number {
		return this.#versions.oldest;
	}

	get map(): StorageMap {
		return this.#current.map;
	}

	get admin(): StorageAdmin {
		return this.#current.admin;
	}

	switchTopology(topology: Topology): Promise<void> {
		const switched = this.#switching.then(() => this.#switchTo(topology));
		this.#switching = switched.catch(() => {});
		return switched;
	}

	async read<K extends ReadKind>(
		kind: K,
		keys: readonly ReadKey<K>[],
		call?: CallOptions,
	): Promise<readonly KeyResult<ReadResult<K>>[]> {
		const version = this.#current;
		version.begin();
		let results: readonly KeyResult<ReadResult<K>>[];
		try {
			results = await version.storage.read(kind, keys, call);
		} finally {
			version.end();
		}
		return WAITS[kind] && results.some(isMoved)
			? this.#readMoved(version, kind, keys, results, call)
			: results;
	}

	readonly transact: Storage["transact"] = (transaction, trace) =>
		this.#write("transact", transaction, trace, {
			shard: transaction.shard,
			// The caller of one for two shards has another way, which waits only for the shard that it has to.
			waits: transaction.beside === undefined,
		});

	/** Only keys whose host refuses them for now wait. All changes of such a key wait, so that they stay in order. */
	readonly compareAndSetLookups: Storage["compareAndSetLookups"] = async (
		changes,
		trace,
	) => {
		const results = new Array<KeyResult<LookupRow | null>>(changes.length);
		const began = performance.now();
		let indexes = [...changes.keys()];
		for (;;) {
			const version = this.#current;
			const some = indexes.map((index) => changes[index] as LookupChange);
			const given = await version.use((storage) =>
				storage.compareAndSetLookups(some, trace),
			);
			indexes.forEach((index, at) => {
				results[index] = given[at] as KeyResult<LookupRow | null>;
			});
			const refused = given.find((row) => refusalOf(row) !== null);
			const taken = some.find((_, at) => !(given[at] instanceof Error));
			if (taken !== undefined) {
				version.accepted((map) =>
					map.hostOfModShard(modShard(taken.key, map.modShards)),
				);
			}
			const waitingKeys = new Set(
				some.filter((_, at) => refusalOf(given[at]) !== null).map(nameOf),
			);
			indexes = indexes.filter((_, at) =>
				waitingKeys.has(nameOf(some[at] as LookupChange)),
			);
			if (
				indexes.length === 0 ||
				!(await this.#waitAfter(version, refused, began))
			) {
				return results;
			}
			reportRefusal(refused, trace);
		}
	};

	readonly pendingEntries: Storage["pendingEntries"] = (query) =>
		this.#current.use((storage) => storage.pendingEntries(query));

	readonly takeEntries: Storage["takeEntries"] = (...call) =>
		this.#current.use((storage) => storage.takeEntries(...call));

	readonly recordFailedDeliveries: Storage["recordFailedDeliveries"] = (
		failures,
		trace,
	) => this.#write("recordFailedDeliveries", failures, trace);

	readonly deleteOutboxEntries: Storage["deleteOutboxEntries"] = (
		keys,
		trace,
	) => this.#write("deleteOutboxEntries", keys, trace);

	readonly walk: Storage["walk"] = (kind, ...of) => {
		const version = this.#current;
		return version.walk(version.storage.walk(kind, ...of));
	};

	async [Symbol.asyncDispose](): Promise<void> {
		this.#closed = true;
		this.#wake();
		await this.#switching;
		await this.#versions[Symbol.asyncDispose]();
	}

	async #switchTo(topology: Topology): Promise<void> {
		const old = this.#current;
		checkTopologyChange(old.topology, topology);
		if (topology.version === old.topology.version) return;
		if (this.#closed) throw closedError();
		const next = new TopologyVersion(
			topology,
			await this.#open(topology),
			this.#limits.tablesMs,
			new Set(old.map.openShards),
		);
		if (this.#closed) {
			await next.close();
			throw closedError();
		}
		this.#versions.replace(next);
		this.#wake();
	}

	/**
	 * Keys of a shard that is not where this version says are read again on a newer
	 * version, if one comes in time: not once more on this one, which says the same.
	 */
	async #readMoved<K extends ReadKind>(
		first: TopologyVersion,
		kind: K,
		keys: readonly ReadKey<K>[],
		found: readonly KeyResult<ReadResult<K>>[],
		call: CallOptions | undefined,
	): Promise<readonly KeyResult<ReadResult<K>>[]> {
		let version = first;
		const results = [...found];
		const until = performance.now() + this.#limits.readWaitMs;
		for (;;) {
			const moved = [...results.keys()].filter((at) => isMoved(results[at]));
			if (moved.length === 0) return results;
			if (!(await this.#newerThan(version, until, call?.signal))) {
				return results;
			}
			version = this.#current;
			const some = moved.map((at) => keys[at] as ReadKey<K>);
			const again = await version.use((storage) =>
				storage.read(kind, some, call),
			);
			for (const [index, at] of moved.entries()) {
				results[at] = again[index] as KeyResult<ReadResult<K>>;
			}
		}
	}

	/** Whether there is a newer version, or comes one in time. */
	async #newerThan(
		version: TopologyVersion,
		until: number,
		signal: AbortSignal | undefined,
	): Promise<boolean> {
		while (this.#current === version) {
			const leftMs = until - performance.now();
			if (leftMs <= 0 || this.#closed || signal?.aborted) return false;
			if (!(await this.#wait(leftMs, signal))) return false;
		}
		return !this.#closed;
	}

	/** A write that fails as read-only or moved has changed nothing, so all of it can be repeated: on the next version, if it `waits` for that. */
	async #write<What, T>(
		verb: WriteVerb,
		what: What,
		trace: WriteTrace | undefined,
		{
			shard,
			waits = true,
		}: {
			/** Where all of it is written; absent: on several. */
			readonly shard?: number;
			readonly waits?: boolean;
		} = {},
	): Promise<T> {
		const began = performance.now();
		for (;;) {
			const version = this.#current.begin();
			const storage = version.storage as unknown as Writing<What, T>;
			let refusal: unknown;
			try {
				const written = await storage[verb](what, trace);
				if (shard !== undefined) version.accepted((map) => map.hostOf(shard));
				return written;
			} catch (thrown) {
				if (!waits || refusalOf(thrown) === null) throw thrown;
				refusal = thrown;
			} finally {
				version.end();
			}
			if (!(await this.#waitAfter(version, refusal, began))) throw refusal;
			reportRefusal(refusal, trace);
		}
	}

	/**
	 * Returns whether to retry a write that failed on that version. A host that
	 * has refused all writes for longer than a promotion takes is read-only for
	 * another reason: a write that comes then would wait in vain.
	 */
	async #waitAfter(
		version: TopologyVersion,
		refusal: unknown,
		began: number,
	): Promise<boolean> {
		const { waitMs } = this.#limits;
		const since = version.refusedSince(refusal);
		const waitedMs = performance.now() - began;
		if (waitedMs >= waitMs || this.#closed) return false;
		if (this.#current !== version) return true;
		const leftMs = Math.min(began, since) + waitMs - performance.now();
		if (leftMs <= 0) return false;
		const waited = await this.#wait(Math.min(this.#limits.retryMs, leftMs));
		return waited && !this.#closed;
	}

	/** Until a newer version comes, at most so long. False, at once, if too many wait already. */
	async #wait(ms: number, signal?: AbortSignal): Promise<boolean> {
		if (this.#waiting.size >= this.#limits.maxWaiting) return false;
		await new Promise<void>((resolve) => {
			const wake = () => {
				clearTimeout(timer);
				signal?.removeEventListener("abort", wake);
				this.#waiting.delete(wake);
				resolve();
			};
			const timer = setTimeout(wake, ms);
			signal?.addEventListener("abort", wake, { once: true });
			this.#waiting.add(wake);
		});
		return true;
	}

	#wake(): void {
		for (const wake of [...this.#waiting]) wake();
	}
}

type WriteVerb = "transact" | "recordFailedDeliveries" | "deleteOutboxEntries";

/** A storage whose caller knows what `what` is for the verb, and what comes back. */
type Writing<What, T> = Readonly<
	Record<WriteVerb, (what: What, trace: WriteTrace | undefined) => Promise<T>>
>;

/** Also for a COMMIT that fails so: the server has rolled back then. */
function reportRefusal(error: unknown, trace: WriteTrace | undefined): void {
	const reason = refusalOf(error);
	if (reason === null) return;
	trace?.retry(reason);
	const { host } = (error as CorkboardError).details;
	publishRetry({ host: String(host), reason });
}

/** Why a host refused a write that it, or the host of a newer version, may take later; null for any other result. */
function refusalOf(result: unknown): "readOnly" | "moved" | null {
	if (!(result instanceof CorkboardError)) return null;
	const { kind } = result.details;
	return kind === "readOnly" || kind === "moved" ? kind : null;
}

function isMoved(result: unknown): boolean {
	return refusalOf(result) === "moved";
}

function nameOf({ name, key }: LookupChange): string {
	return JSON.stringify([name, key]);
}

function closedError(): TypeError {
	return new TypeError("The storage is closed and takes no new topology.");
}
