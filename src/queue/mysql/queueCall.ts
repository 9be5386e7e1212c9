import { toShardError } from "../../storage/mysql/databases.ts";
import type {
	CommitDecision,
	MysqlTransaction,
} from "../../storage/mysql/driver/commitProtocol.ts";
import type { QueryOptions } from "../../storage/mysql/driver/queryOptions.ts";
import type { Shard } from "../../storage/mysql/shards.ts";
import { StorageFailure } from "../../storage/storageFailure.ts";
import { deadlineIn } from "../../util/deadline.ts";
import type { ShardOfQueue } from "../jobStore.ts";
import { unknownQueue } from "../portChecks.ts";
import type { HostClock } from "./hostClock.ts";
import { type QueueTables, tablesOf } from "./statements.ts";

/** No COMMIT is sent later than this after the start, if the process was paused: rows must not come later than their bucket says. Milliseconds. */
const COMMIT_MS = 5_000;

/** ER_NO_SUCH_TABLE, ER_BAD_DB_ERROR, and MySQL's ER_UNKNOWN_TABLE */
const NO_TABLE = new Set([1146, 1049, 1109]);

/** One queue shard: a database on a host. */
export interface QueueShard extends Shard {
	readonly clock: HostClock;
	/** Whether it takes new jobs. */
	readonly isOpen: boolean;
}

/** One call of the port, on one queue and shard. */
export interface QueueCall {
	readonly at: ShardOfQueue;
	readonly shard: QueueShard;
	readonly tables: QueueTables;
	readonly options: QueryOptions;
	/** The same with all of its time. */
	readonly again: () => QueueCall;
}

export function queueCall(
	at: ShardOfQueue,
	shard: QueueShard,
	ms: number,
): QueueCall {
	return {
		at,
		shard,
		tables: tablesOf(shard.database, at.queue),
		options: { shard: at.shard, deadline: deadlineIn(ms) },
		again: () => queueCall(at, shard, ms),
	};
}

/**
 * One transaction, begun again after a deadlock or on a dead connection. `body`
 * gets the shard's time at its start, and COMMIT is sent within COMMIT_MS of it.
 */
export function transact<T>(
	{ shard, options }: QueueCall,
	body: (
		statements: MysqlTransaction,
		now: number,
	) => Promise<CommitDecision<T>>,
): Promise<T> {
	return shard.host.transaction(options, async (statements) => {
		const commitBy = performance.now() + COMMIT_MS;
		const now = await shard.clock.now(shard.number);
		return { ...(await body(statements, now)), commitBy };
	});
}

/** Anything but a failure of the database stays as it is. */
export function toQueueError(thrown: unknown, at: ShardOfQueue): unknown {
	return isNoTable(thrown)
		? unknownQueue(at)
		: toShardError(thrown, "queue", at.shard);
}

export function isNoTable(thrown: unknown): boolean {
	return (
		thrown instanceof StorageFailure && NO_TABLE.has(thrown.errno ?? Number.NaN)
	);
}
