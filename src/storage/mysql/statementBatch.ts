import type { MysqlTransaction } from "./driver/host.ts";
import type { Result, Row, WriteResult } from "./driver/mysql2Connection.ts";
import type { Sql } from "./driver/mysqlConnection.ts";

/**
 * Statements of a transaction that need no answer of each other: they are sent
 * in one round trip and executed in order. Each has a callback for its result.
 */
export class StatementBatch {
	readonly #transaction: MysqlTransaction;
	#statements: Sql[] = [];
	#uses: ((result: never) => void)[] = [];

	constructor(transaction: MysqlTransaction) {
		this.#transaction = transaction;
	}

	rows(sql: Sql, use: (rows: readonly Row[]) => void): void {
		this.#statements.push(sql);
		this.#uses.push(use);
	}

	run(sql: Sql, use: (result: WriteResult) => void = () => {}): void {
		this.#statements.push(sql);
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
