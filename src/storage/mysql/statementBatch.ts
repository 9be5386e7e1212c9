import type { MysqlTransaction } from "./driver/host.ts";
import type { Result, Row, WriteResult } from "./driver/mysql2Connection.ts";
import type { Sql } from "./driver/mysqlConnection.ts";
import type { Shard } from "./shards.ts";

/**
 * Statements of a transaction that need no answer of each other: they are sent
 * in one round trip and executed in order. Each has a callback for its result.
 */
export class StatementBatch {
	readonly #transaction: MysqlTransaction;
	readonly #namesShards: boolean;
	#shard: number | undefined;
	#statements: Sql[] = [];
	#uses: ((result: never) => void)[] = [];

	constructor(
		transaction: MysqlTransaction,
		/** Whether its statements are for different shards. */
		namesShards = false,
	) {
		this.#transaction = transaction;
		this.#namesShards = namesShards;
	}

	/** What is added from now on is for this shard. */
	to({ number }: Shard): void {
		if (this.#namesShards) this.#shard = number;
	}

	rows(sql: Sql, use: (rows: readonly Row[]) => void): void {
		this.#add(sql, use);
	}

	run(sql: Sql, use: (result: WriteResult) => void = () => {}): void {
		this.#add(sql, use);
	}

	#add(sql: Sql, use: (result: never) => void): void {
		const shard = this.#shard;
		this.#statements.push(shard === undefined ? sql : { ...sql, shard });
		this.#uses.push(use);
	}

	/** Sends what was added since the last time. */
	async send(): Promise<void> {
		const { statements, use } = this.take();
		if (statements.length > 0)
			use(await this.#transaction.together(statements));
	}

	/** What was added since the last time, for a caller that sends it: `use` takes the results. */
	take(): {
		readonly statements: readonly Sql[];
		readonly use: (results: readonly Result[]) => void;
	} {
		const statements = this.#statements;
		const uses = this.#uses;
		this.#statements = [];
		this.#uses = [];
		return {
			statements,
			use(results) {
				for (const [at, use] of uses.entries()) use(results[at] as never);
			},
		};
	}
}
