import type { CallOptions, WriteTrace } from "../trace.ts";
import type { MaybePromise } from "../util/maybePromise.ts";
import type {
	FailedDelivery,
	KeyResult,
	ListKey,
	LookupChange,
	LookupRow,
	OutboxKey,
	OutboxPosition,
	Transaction,
	TransactionResult,
} from "./rows.ts";
import type {
	ReadKey,
	ReadKind,
	ReadResult,
	StorageAdmin,
	WalkKind,
	WalkOf,
	WalkRow,
} from "./storage.ts";

/** Where a shard or mod shard is. One statement can read all shards of a host. */
export interface ShardLocation {
	readonly number: number;
	readonly host: { readonly name: string };
}

export interface ShardLocations<P extends ShardLocation> {
	/** Feed databases too, by their numbers in storage. */
	readonly shards: ReadonlyMap<number, P>;
	readonly modShards: ReadonlyMap<number, P>;
}

/** A key and its shard. */
export interface KeyAt<Key, P extends ShardLocation> {
	readonly key: Key;
	readonly shard: P;
}

/** Reads keys of one host, all in one call. */
export interface HostRead<K extends ReadKind, P extends ShardLocation> {
	/** Most keys of one call. */
	readonly maxKeys: number;
	readonly read: (
		host: P["host"],
		some: readonly KeyAt<ReadKey<K>, P>[],
		call: CallOptions | undefined,
	) => MaybePromise<readonly ReadResult<K>[]>;
}

/**
 * What a database does with keys of one host: the router (./router.ts) finds the
 * hosts, checks what it is called with and puts the results together. A failure
 * of a shard is thrown as a StorageFailure.
 */
export interface Driver<P extends ShardLocation> extends AsyncDisposable {
	readonly locations: ShardLocations<P>;
	readonly readOnly: boolean;
	readonly hasSingleWriter: boolean;
	readonly admin: StorageAdmin;
	readonly reads: { readonly [K in ReadKind]: HostRead<K, P> };

	/** The next rows of a table: after `last`, or from the beginning. */
	walk<K extends WalkKind>(
		kind: K,
		location: P,
		of: WalkOf<K>,
		last: WalkRow<K> | null,
		limit: number,
	): MaybePromise<readonly WalkRow<K>[]>;

	isOnStandby(shard: number): boolean;
	canTransactOnBoth(location: P, beside: P, lists: readonly ListKey[]): boolean;

	transact<T>(
		location: P,
		/** On the same host. */
		beside: P | undefined,
		transaction: Transaction<T>,
		trace: WriteTrace | undefined,
	): MaybePromise<TransactionResult<T>>;

	/** Changes of one key take effect in order. */
	compareAndSetLookups(
		host: P["host"],
		some: readonly KeyAt<LookupChange, P>[],
		trace: WriteTrace | undefined,
	): MaybePromise<readonly KeyResult<LookupRow | null>[]>;

	/** Entries of the outbox of the location's host, here and below. */
	takeEntries(
		location: P,
		entries: readonly OutboxPosition[],
		until: number,
		trace: WriteTrace | undefined,
	): MaybePromise<readonly OutboxKey[]>;

	recordFailedDeliveries(
		location: P,
		failures: readonly FailedDelivery[],
		trace: WriteTrace | undefined,
	): MaybePromise<void>;

	deleteOutboxEntries(
		location: P,
		keys: readonly OutboxKey[],
		trace: WriteTrace | undefined,
	): MaybePromise<void>;
}
