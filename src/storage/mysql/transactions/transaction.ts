import type { ShardLocation } from "../../driver.ts";
import type { Transaction } from "../../rows.ts";
import type { StatementBatch } from "../../statements/batch.ts";
import type {
	ShardTransaction,
	TransactionContext,
} from "../../statements/lockedRows.ts";
import {
	type GroupOutcomes,
	runTransactions,
} from "../../statements/transaction.ts";
import { statementsOf } from "../dialect.ts";
import type {
	CommitDecision,
	MysqlTransaction,
} from "../driver/commitProtocol.ts";
import type { Result } from "../driver/mysql2Connection.ts";
import type { Shard } from "../shards.ts";

/**
 * Whether a transaction can wait in a group for the row that they share: all its
 * reads can be updated with the writes of those before it. One list, or else one
 * object, is what the group shares; of those that create objects, also several
 * lists, because a new object is in as many as it has parents.
 */
export function isGroupable({
	beside,
	lists = [],
	objects = [],
	creates = [],
	neighbors = [],
}: Transaction<unknown>): boolean {
	if (beside !== undefined || neighbors.length > 0) return false;
	if (creates.length > 0) return lists.length > 0;
	return lists.length === 1 || (lists.length === 0 && objects.length === 1);
}

/** Runs transactions of one host as one: each batch of statements is one round trip, the last one with COMMIT. */
export async function runTransactionGroup(
	statements: MysqlTransaction,
	context: TransactionContext<Shard>,
	transactions: readonly ShardTransaction<Shard>[],
): Promise<CommitDecision<GroupOutcomes | null>> {
	const procedure = runTransactions(context, transactions);
	let step = procedure.next();
	while (!step.done) {
		await send(statements, step.value);
		step = procedure.next();
	}
	const decision = step.value;
	if ("rolledBack" in decision) {
		return { value: decision.rolledBack, commit: false };
	}
	const last = statementsOf(decision.last);
	return {
		last: last.map(({ sql }) => sql),
		valueOf: (results) => {
			for (const [at, { use }] of last.entries()) use(results[at] as Result);
			return decision.outcomes();
		},
		commit: true,
		wrote: decision.wrote,
	};
}

/** Sends a batch in one round trip, and uses its results. */
export async function send(
	transaction: MysqlTransaction,
	batch: StatementBatch<ShardLocation>,
): Promise<void> {
	const statements = statementsOf(batch);
	if (statements.length === 0) return;
	const results = await transaction.together(statements.map(({ sql }) => sql));
	for (const [at, { use }] of statements.entries()) use(results[at] as Result);
}
