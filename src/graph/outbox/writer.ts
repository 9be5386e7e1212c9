import { CorkboardError } from "../../errors.ts";
import type { ChangedKeys } from "../../freshness/changedKeys.ts";
import type { Id } from "../../id/ids.ts";
import type {
	KeyResult,
	LookupChange,
	LookupRow,
	OutboxKey,
	OutboxRow,
	Transaction,
	TransactionReads,
	TransactionWrites,
} from "../../storage/rows.ts";
import type { CallOptions } from "../../trace.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import type { EntryJob } from "../store/jobQueue.ts";
import type { Store } from "../store/store.ts";
import type { OutboxEntry } from "./entry.ts";

/**
 * The steps that delivery shares with every other write. The write pipeline
 * (../write/pipeline.ts) implements them, and traces each.
 */
export interface Writer {
	readonly store: Store;
	/** For reads on the way to a write. */
	readonly call: CallOptions;
	/** One transaction, with the caches in front of it kept right. What it puts into the outbox is not delivered, but for its own invalidations. */
	transact<T>(transaction: WriteTransaction<T>): Promise<Committed<T>>;
	compareAndSetLookups(
		changes: readonly LookupChange[],
	): Promise<readonly KeyResult<LookupRow | null>[]>;
	/** Whether every shared cache acknowledged, and Redis took the publication. `host`: the one host of a shared cache that holds all of the keys, if the caller knows. */
	invalidate(changed: ChangedKeys, host?: string | null): Promise<boolean>;
	/** At once if nobody waits for it. */
	deleteOutboxEntries(rows: readonly OutboxKey[]): MaybePromise<void>;
	/**
	 * Enqueue jobs of entries, also those that another process may have enqueued. A result for each.
	 */
	enqueueJobs(jobs: readonly EntryJob[]): Promise<readonly KeyResult<null>[]>;
	/** Whether jobs are enqueued without being waited for, where nothing else is left of their entries. */
	readonly defersJobs: boolean;
}

/** A transaction of the storage port whose `decide` gives a typed outbox entry. */
export interface WriteTransaction<T> extends Omit<Transaction<T>, "decide"> {
	readonly decide: (reads: TransactionReads) => Decision<T>;
}

/** The result of `decide`. */
export interface Decision<T>
	extends Omit<TransactionWrites<T>, "outboxEntry" | "besideEntry"> {
	readonly entry?: OutboxEntry | undefined;
	/** Whether somebody who saw something before may not see it afterwards: the write then waits for its invalidations. */
	readonly hides?: boolean;
}

export interface Committed<T> {
	readonly result: T;
	readonly created: readonly Id[];
	/** The outbox row that was committed with it. */
	readonly row: OutboxRow | null;
	/** The one of the shard beside it, for its own invalidations. */
	readonly besideRow?: OutboxRow | null;
	/** Whether every shared cache acknowledged, and Redis took the publication. */
	readonly invalidated: boolean;
}

/** For a write that stays undelivered because a shared cache did not answer. */
export function invalidationFailed(host: string | null = null): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		"A shared cache did not acknowledge an invalidation.",
		{ details: { kind: "invalidation", host } },
	);
}
