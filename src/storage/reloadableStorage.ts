import type { CallOptions, WriteTrace } from "../diagnostics.ts";
import { CorkboardError } from "../errors.ts";
import type { Id } from "../id/ids.ts";
import type { Mapping } from "../model/types.ts";
import { checkTopologyChange } from "../topology/check.ts";
import type { Topology } from "../topology/types.ts";
import type {
	Edge,
	EdgeKey,
	FailedDelivery,
	KeyResult,
	ListRow,
	LookupChange,
	LookupKey,
	LookupRow,
	OutboxKey,
	PendingEntriesQuery,
	PendingEntry,
	Scan,
	ScanResult,
	Storage,
	StoredObject,
	Transaction,
	TransactionResult,
} from "./storage.ts";

/**
 * Storage whose topology may change while it is used (PROTOCOLS §6): a storage
 * for each version. A call finishes on the version it began with. A write that
 * a host refuses because it is read-only, as it is while another becomes the
 * primary, waits and is tried again; reads do not wait.
 */
export interface ReloadableStorage extends Storage {
	/** The version that calls begin on from now on. */
	readonly topology: Topology;
	/**
	 * Resolves once calls begin on it. Throws BAD_TOPOLOGY where it may not follow
	 * the present one, which then stays, as it does where the new one does not open.
	 */
	switchTopology(topology: Topology): Promise<void>;
}

export interface ReloadableStorageLimits {
	/** Of all a write waits. Milliseconds. */
	readonly waitMs: number;
	/** Writes that wait; the next is refused as it would be without us. */
	readonly maxWaiting: number;
	/** After which a write is tried again also where no newer version came: the host may take writes only some time after it was named, or again. */
	readonly retryMs: number;
	/** A version's last calls get this long to end before they are cut off. */
	readonly drainMs: number;
}

/** 10 s, as VTGate buffers during a failover (FIELD §1.3). */
const LIMITS: ReloadableStorageLimits = {
	waitMs: 10_000,
	maxWaiting: 1_000,
	retryMs: 500,
	drainMs: 30_000,
};

type Open = (topology: Topology) => Promise<Storage>;

export async function createReloadableStorage(
	open: Open,
	first: Topology,
	limits: Partial<ReloadableStorageLimits> = {},
): Promise<ReloadableStorage> {
	const version = new Version(first, await open(first));
	return new TopologySwitcher(open, version, { ...LIMITS, ...limits });
}

class TopologySwitcher implements ReloadableStorage {
	readonly #open: Open;
	readonly #limits: ReloadableStorageLimits;
	readonly #retired = new Set<Version>();
	/** Each is called once, by a newer version or the end. */
	readonly #waiting = new Set<() => void>();
	#current: Version;
	#adopting: Promise<unknown> = Promise.resolve();
	#closed = false;

	constructor(open: Open, first: Version, limits: ReloadableStorageLimits) {
		this.#open = open;
		this.#limits = limits;
		this.#current = first;
	}

	get topology(): Topology {
		return this.#current.topology;
	}

	get shards(): readonly number[] {
		return this.#current.storage.shards;
	}

	get openShards(): readonly number[] {
		return this.#current.storage.openShards;
	}

	get modShards(): number {
		return this.#current.storage.modShards;
	}

	get hasSingleWriter(): boolean {
		return this.#current.storage.hasSingleWriter;
	}

	hostOf(shard: number): string | null {
		return this.#current.storage.hostOf(shard);
	}

	hostOfModShard(shard: number): string | null {
		return this.#current.storage.hostOfModShard(shard);
	}

	switchTopology(topology: Topology): Promise<void> {
		const adopted = this.#adopting.then(() => this.#switchTo(topology));
		this.#adopting = adopted.catch(() => {});
		return adopted;
	}

	readObjects(
		ids: readonly Id[],
		call?: CallOptions,
	): Promise<readonly KeyResult<string | null>[]> {
		return this.#current.use((storage) => storage.readObjects(ids, call));
	}

	scanLists(
		scans: readonly Scan[],
		call?: CallOptions,
	): Promise<readonly KeyResult<ScanResult>[]> {
		return this.#current.use((storage) => storage.scanLists(scans, call));
	}

	readEdges(
		keys: readonly EdgeKey[],
		call?: CallOptions,
	): Promise<readonly KeyResult<Edge | null>[]> {
		return this.#current.use((storage) => storage.readEdges(keys, call));
	}

	readLookups(
		keys: readonly LookupKey[],
		call?: CallOptions,
	): Promise<readonly KeyResult<LookupRow | null>[]> {
		return this.#current.use((storage) => storage.readLookups(keys, call));
	}

	transact<T>(
		transaction: Transaction<T>,
		trace?: WriteTrace,
	): Promise<TransactionResult<T>> {
		return this.#write(
			(storage) => storage.transact(transaction, trace),
			trace,
		);
	}

	/** Keys of a host that is read-only wait alone; all changes of such a key, so that they stay in order. */
	async compareAndSetLookups(
		changes: readonly LookupChange[],
		trace?: WriteTrace,
	): Promise<readonly KeyResult<LookupRow | null>[]> {
		const answers = new Array<KeyResult<LookupRow | null>>(changes.length);
		const until = performance.now() + this.#limits.waitMs;
		let indexes = [...changes.keys()];
		for (;;) {
			const version = this.#current;
			const some = indexes.map((index) => changes[index] as LookupChange);
			const given = await version.use((storage) =>
				storage.compareAndSetLookups(some, trace),
			);
			indexes.forEach((index, at) => {
				answers[index] = given[at] as KeyResult<LookupRow | null>;
			});
			const refused = new Set(
				some.filter((_, at) => isReadOnly(given[at])).map(nameOf),
			);
			indexes = indexes.filter((_, at) =>
				refused.has(nameOf(some[at] as LookupChange)),
			);
			if (indexes.length === 0 || !(await this.#waitAfter(version, until))) {
				return answers;
			}
			trace?.retry("readOnly");
		}
	}

	pendingEntries(query: PendingEntriesQuery): Promise<readonly PendingEntry[]> {
		return this.#current.use((storage) => storage.pendingEntries(query));
	}

	recordFailedDeliveries(
		failures: readonly FailedDelivery[],
		trace?: WriteTrace,
	): Promise<void> {
		return this.#write(
			(storage) => storage.recordFailedDeliveries(failures, trace),
			trace,
		);
	}

	deleteOutboxEntries(
		keys: readonly OutboxKey[],
		trace?: WriteTrace,
	): Promise<void> {
		return this.#write(
			(storage) => storage.deleteOutboxEntries(keys, trace),
			trace,
		);
	}

	missingTables(): Promise<readonly string[]> {
		return this.#current.use((storage) => storage.missingTables());
	}

	createTables(
		progress?: (done: number, total: number) => void,
	): Promise<void> {
		return this.#current.use((storage) => storage.createTables(progress));
	}

	walkObjects(
		shard: number,
		type: string,
	): AsyncIterable<readonly StoredObject[]> {
		const version = this.#current;
		return version.walk(version.storage.walkObjects(shard, type));
	}

	walkEdges(shard: number, mapping: Mapping): AsyncIterable<readonly Edge[]> {
		const version = this.#current;
		return version.walk(version.storage.walkEdges(shard, mapping));
	}

	walkLists(
		shard: number,
		mapping: Mapping,
	): AsyncIterable<readonly ListRow[]> {
		const version = this.#current;
		return version.walk(version.storage.walkLists(shard, mapping));
	}

	walkOutbox(shard: number): AsyncIterable<readonly PendingEntry[]> {
		const version = this.#current;
		return version.walk(version.storage.walkOutbox(shard));
	}

	walkLookups(modShard: number): AsyncIterable<readonly LookupRow[]> {
		const version = this.#current;
		return version.walk(version.storage.walkLookups(modShard));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#closed = true;
		this.#wake();
		await this.#adopting;
		await Promise.all(
			[this.#current, ...this.#retired].map((version) => version.close()),
		);
	}

	async #switchTo(topology: Topology): Promise<void> {
		const old = this.#current;
		checkTopologyChange(old.topology, topology);
		if (topology.version === old.topology.version) return;
		if (this.#closed) throw closedError();
		const next = new Version(topology, await this.#open(topology));
		if (this.#closed) {
			await next.close();
			throw closedError();
		}
		this.#current = next;
		this.#retired.add(old);
		old.retire(this.#limits.drainMs, () => this.#retired.delete(old));
		this.#wake();
	}

	/** Refused as read-only means that nothing was done, so all of it may be done again. */
	async #write<T>(
		body: (storage: Storage) => Promise<T>,
		trace: WriteTrace | undefined,
	): Promise<T> {
		const until = performance.now() + this.#limits.waitMs;
		for (;;) {
			const version = this.#current;
			try {
				return await version.use(body);
			} catch (thrown) {
				if (!isReadOnly(thrown)) throw thrown;
				if (!(await this.#waitAfter(version, until))) throw thrown;
				trace?.retry("readOnly");
			}
		}
	}

	/** Answers whether what was refused on that version is to be tried again. */
	async #waitAfter(version: Version, until: number): Promise<boolean> {
		const leftMs = until - performance.now();
		if (leftMs <= 0 || this.#closed) return false;
		if (this.#current !== version) return true;
		const { retryMs: againMs, maxWaiting } = this.#limits;
		if (this.#waiting.size >= maxWaiting) return false;
		await new Promise<void>((resolve) => {
			const wake = () => {
				clearTimeout(timer);
				this.#waiting.delete(wake);
				resolve();
			};
			const timer = setTimeout(wake, Math.min(againMs, leftMs));
			this.#waiting.add(wake);
		});
		return !this.#closed;
	}

	#wake(): void {
		for (const wake of [...this.#waiting]) wake();
	}
}

/** One version's storage, which goes when its last call has ended. */
class Version {
	readonly topology: Topology;
	readonly storage: Storage;
	#calls = 0;
	#onIdle: (() => void) | null = null;
	#closing: Promise<void> | null = null;

	constructor(topology: Topology, storage: Storage) {
		this.topology = topology;
		this.storage = storage;
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

	/** No call begins here any more. */
	retire(drainMs: number, done: () => void): void {
		const close = () => {
			clearTimeout(timer);
			// Nobody is left who could be told that it did not close well.
			this.close().then(done, done);
		};
		const timer = setTimeout(close, drainMs);
		if (this.#calls === 0) close();
		else this.#onIdle = close;
	}

	close(): Promise<void> {
		this.#closing ??= Promise.resolve(this.storage[Symbol.asyncDispose]());
		return this.#closing;
	}

	#ended(): void {
		this.#calls -= 1;
		if (this.#calls === 0) this.#onIdle?.();
	}
}

/**
 * Also of a COMMIT that was refused so: the server has rolled back then, and
 * says so by that very error.
 */
function isReadOnly(thrown: unknown): boolean {
	return thrown instanceof CorkboardError && thrown.details.kind === "readOnly";
}

function nameOf({ name, key }: LookupChange): string {
	return JSON.stringify([name, key]);
}

function closedError(): TypeError {
	return new TypeError(
		"expected the storage to be in use but got: a topology after it was closed",
	);
}
