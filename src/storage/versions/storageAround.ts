import type { CallOptions, WriteTrace } from "../../trace.ts";
import type {
	FailedDelivery,
	KeyResult,
	LookupChange,
	LookupRow,
	OutboxKey,
	OutboxPosition,
	PendingEntriesQuery,
	PendingEntry,
	Transaction,
	TransactionResult,
} from "../rows.ts";
import type {
	ReadKey,
	ReadKind,
	ReadResult,
	Storage,
	StorageMap,
	WalkKind,
	WalkOf,
	WalkRow,
} from "../storage.ts";

/** Storage that does as another one: for a class that does some of it otherwise. */
export class StorageAround implements Storage {
	protected readonly inner: Storage;

	constructor(inner: Storage) {
		this.inner = inner;
	}

	get map(): StorageMap {
		return this.inner.map;
	}

	read<K extends ReadKind>(
		kind: K,
		keys: readonly ReadKey<K>[],
		call?: CallOptions,
	): Promise<readonly KeyResult<ReadResult<K>>[]> {
		return this.inner.read(kind, keys, call);
	}

	transact<T>(
		transaction: Transaction<T>,
		trace?: WriteTrace,
	): Promise<TransactionResult<T>> {
		return this.inner.transact(transaction, trace);
	}

	compareAndSetLookups(
		changes: readonly LookupChange[],
		trace?: WriteTrace,
	): Promise<readonly KeyResult<LookupRow | null>[]> {
		return this.inner.compareAndSetLookups(changes, trace);
	}

	pendingEntries(query: PendingEntriesQuery): Promise<readonly PendingEntry[]> {
		return this.inner.pendingEntries(query);
	}

	takeEntries(
		entries: readonly OutboxPosition[],
		until: number,
		trace?: WriteTrace,
	): Promise<readonly OutboxKey[]> {
		return this.inner.takeEntries(entries, until, trace);
	}

	recordFailedDeliveries(
		failures: readonly FailedDelivery[],
		trace?: WriteTrace,
	): Promise<void> {
		return this.inner.recordFailedDeliveries(failures, trace);
	}

	deleteOutboxEntries(
		keys: readonly OutboxKey[],
		trace?: WriteTrace,
	): Promise<void> {
		return this.inner.deleteOutboxEntries(keys, trace);
	}

	walk<K extends WalkKind>(
		kind: K,
		...of: WalkOf<K>
	): AsyncIterable<readonly WalkRow<K>[]> {
		return this.inner.walk(kind, ...of);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.inner[Symbol.asyncDispose]();
	}
}
