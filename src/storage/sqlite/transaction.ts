import type { Model } from "../../model/types.ts";
import type { StatementTrace } from "../../trace.ts";
import type { ShardLocation } from "../driver.ts";
import type { Transaction, TransactionResult } from "../rows.ts";
import { runNow } from "../statements/batch.ts";
import { runTransactions } from "../statements/transaction.ts";
import { checkTransaction } from "../transactionRules.ts";
import { execute, SQLITE } from "./dialect.ts";
import type { SqliteConnection } from "./driver/sqliteConnection.ts";

/**
 * Runs the whole transaction in one tick. BEGIN IMMEDIATE takes the file's only
 * write lock, which replaces all the row locks of the transaction.
 */
export function transact<T>(
	connection: SqliteConnection,
	model: Model,
	shard: ShardLocation,
	transaction: Transaction<T>,
	trace?: StatementTrace,
): TransactionResult<T> {
	checkTransaction(transaction);
	return connection.transaction(() => {
		const decision = runNow(
			runTransactions({ dialect: SQLITE, model }, [{ shard, transaction }]),
			(batch) => execute(connection, batch),
		);
		if (!("rolledBack" in decision)) execute(connection, decision.last);
		const outcomes =
			"rolledBack" in decision ? decision.rolledBack : decision.outcomes();
		const [outcome] = outcomes ?? [];
		if (outcome && "thrown" in outcome) throw outcome.thrown;
		return outcome as TransactionResult<T>;
	}, trace);
}
