import { execute, selectFrom } from "../../storage/sqlite/dialect.ts";
import type { ShardFile } from "../../storage/sqlite/driver/shardFile.ts";
import type {
	Parameter,
	SqliteConnection,
} from "../../storage/sqlite/driver/sqliteConnection.ts";
import { runNow } from "../../storage/statements/batch.ts";
import type { Select, Write } from "../../storage/statements/dialect.ts";
import type { ShardOfQueue } from "../jobStore.ts";
import type { QueueTables } from "../statements/dialect.ts";
import type { Decision, InTransaction, QueueCall } from "../verbs/queueCall.ts";
import { tablesOf } from "./dialect.ts";

/** A call on the file of a shard. Each of its transactions is over within a tick. */
export class SqliteCall implements QueueCall {
	readonly tables: QueueTables;
	readonly now: () => number;
	readonly #file: ShardFile;

	constructor(
		{ queue, shard }: ShardOfQueue,
		file: ShardFile,
		now: () => number,
	) {
		this.tables = tablesOf(shard, file, queue);
		this.now = now;
		this.#file = file;
	}

	again(): SqliteCall {
		return this;
	}

	select<Result>(select: Select<Result>): readonly Result[] {
		return selectFrom(this.#file.reader, select);
	}

	write(write: Write): number {
		return runWrite(this.#file.writer, write);
	}

	transact<T>(body: (now: number) => InTransaction<Decision<T>>): T {
		const { writer } = this.#file;
		try {
			return writer.transaction(() => {
				const { value, last } = runNow(body(this.now()), (batch) =>
					execute(writer, batch),
				);
				if (last === null) throw new RolledBack(value);
				for (const write of last) runWrite(writer, write);
				return value;
			});
		} catch (thrown) {
			if (thrown instanceof RolledBack) return thrown.value as T;
			throw thrown;
		}
	}
}

/** Rolls a transaction back which has a value all the same. */
class RolledBack {
	readonly value: unknown;

	constructor(value: unknown) {
		this.value = value;
	}
}

export function runWrite(writer: SqliteConnection, write: Write): number {
	return writer.run(write, write.values as readonly Parameter[]).changes;
}
