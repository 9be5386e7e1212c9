import { toShardError } from "../../storage/mysql/databases.ts";
import { selectAll, sqlOf } from "../../storage/mysql/dialect.ts";
import type { QueryOptions } from "../../storage/mysql/driver/queryOptions.ts";
import type { Shard } from "../../storage/mysql/shards.ts";
import { send } from "../../storage/mysql/transactions/transaction.ts";
import type { Select, Write } from "../../storage/statements/dialect.ts";
import { StorageFailure } from "../../storage/storageFailure.ts";
import { deadlineIn } from "../../util/deadline.ts";
import type { ShardOfQueue } from "../jobStore.ts";
import { unknownQueue } from "../portChecks.ts";
import type { QueueTables } from "../statements/dialect.ts";
import type { Decision, InTransaction, QueueCall } from "../verbs/queueCall.ts";
import { tablesOf } from "./dialect.ts";
import type { HostClock } from "./hostClock.ts";

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

export class MysqlCall implements QueueCall {
	readonly at: ShardOfQueue;
	readonly shard: QueueShard;
	readonly tables: QueueTables;
	readonly #ms: number;
	readonly #options: QueryOptions;

	/** `ms`: how long it may take. */
	constructor(at: ShardOfQueue, shard: QueueShard, ms: number) {
		this.at = at;
		this.shard = shard;
		this.tables = tablesOf(shard, at.queue);
		this.#ms = ms;
		this.#options = { shard: at.shard, deadline: deadlineIn(ms) };
	}

	again(): MysqlCall {
		return new MysqlCall(this.at, this.shard, this.#ms);
	}

	now(): Promise<number> {
		return this.shard.clock.now(this.shard.number);
	}

	async select<Result>(select: Select<Result>): Promise<readonly Result[]> {
		const { host } = this.shard;
		const [found = []] = await selectAll(host, [select], this.#options);
		return found;
	}

	/** It is repeated after a deadlock, or on a dead connection. */
	async write(write: Write): Promise<number> {
		const { host } = this.shard;
		return (await host.run(sqlOf(write), this.#options)).affectedRows;
	}

	/** It is begun again after a deadlock or on a dead connection. COMMIT is sent within COMMIT_MS of its start. */
	transact<T>(body: (now: number) => InTransaction<Decision<T>>): Promise<T> {
		return this.shard.host.transaction<T>(this.#options, async (statements) => {
			const commitBy = performance.now() + COMMIT_MS;
			const procedure = body(await this.now());
			let step = procedure.next();
			for (; !step.done; step = procedure.next()) {
				await send(statements, step.value);
			}
			const { value, last } = step.value;
			return last === null
				? { value, commit: false, commitBy }
				: {
						last: last.map(sqlOf),
						valueOf: () => value,
						commit: true,
						commitBy,
					};
		});
	}
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
