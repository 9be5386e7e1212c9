import type { ShardLocation } from "../../storage/driver.ts";
import {
	batchedSelect,
	type Procedure,
	StatementBatch,
} from "../../storage/statements/batch.ts";
import type { Select, Write } from "../../storage/statements/dialect.ts";
import type { MaybePromise } from "../../util/maybePromise.ts";
import type { QueueTables } from "../statements/dialect.ts";
import { lockQueue } from "../statements/queues.ts";

/** One call of the port, on one queue and shard: what a verb needs of a database. */
export interface QueueCall {
	readonly tables: QueueTables;
	/** The shard's clock. Microseconds since 1970. */
	now(): MaybePromise<number>;
	/** One statement that reads, in no transaction. */
	select<Result>(select: Select<Result>): MaybePromise<readonly Result[]>;
	/** One statement that commits by itself, and can be repeated without harm. How many rows it changed. */
	write(write: Write): MaybePromise<number>;
	/** One transaction, which may be begun again. `body` gets the shard's time at its start. */
	transact<T>(
		body: (now: number) => InTransaction<Decision<T>>,
	): MaybePromise<T>;
	/** The same call with all of its time. */
	again(): QueueCall;
}

/** What is done in a transaction, as `Procedure` has it. */
export type InTransaction<Result> = Procedure<ShardLocation, Result>;

/** How a transaction ends. */
export interface Decision<T> {
	readonly value: T;
	/** What is written together with COMMIT; null: it is rolled back. */
	readonly last: readonly Write[] | null;
}

/** Reads in a transaction, all in one round trip. Their results follow each other. */
export function* read<Result>(
	{ shard }: QueueTables,
	...selects: readonly Select<Result>[]
): InTransaction<readonly Result[]> {
	const found: Result[] = [];
	const batch = new StatementBatch<ShardLocation>();
	for (const select of selects) {
		batch.ask(
			shard,
			batchedSelect(select, (some) => {
				found.push(...some);
			}),
		);
	}
	yield batch;
	return found;
}

/** Locks the queue, then writes, then reads, all in one round trip. */
export function* readLocked<Result>(
	tables: QueueTables,
	select: Select<Result>,
	writes: readonly Write[] = [],
): InTransaction<readonly Result[]> {
	let found: readonly Result[] = [];
	const batch = new StatementBatch<ShardLocation>();
	batch.ask(
		tables.shard,
		batchedSelect(lockQueue(tables), () => {}),
	);
	batch.writeAll(tables.shard, writes);
	batch.ask(
		tables.shard,
		batchedSelect(select, (some) => {
			found = some;
		}),
	);
	yield batch;
	return found;
}
