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

/** After `beforeCommit` was called COMMIT is sent within so many milliseconds: less than the life of a tombstone (docs/consistency.md, 3. Caches). */
const COMMIT_MS = 1_000;
/** If the changes and `beforeCommit` took longer, it is called again after them, so that COMMIT has its time. */
const HOOKS_AGAIN_MS = COMMIT_MS / 4;
/** If `beforeCommit` took longer when it was called again, a cache or this machine is slow, and it is called once more. */
const HOOKS_SLOW_MS = COMMIT_MS / 2;
/** How often it is called again at the most. */
const HOOKS_AGAIN = 3;

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
	const hooks = transactions.flatMap(
		({ transaction: { beforeCommit } }) => beforeCommit ?? [],
	);
	let began = 0;
	const runHooks = async () => {
		began = performance.now();
		await Promise.all(hooks.map((beforeCommit) => beforeCommit()));
	};
	const procedure = runTransactions(context, transactions);
	let step = procedure.next();
	for (let isFirst = true; !step.done; isFirst = false) {
		const sent = send(statements, step.value);
		// They do not reject: a failure of the batch waits for them.
		const ran = isFirst && hooks.length > 0 ? runHooks() : undefined;
		try {
			await sent;
		} finally {
			await ran;
		}
		step = procedure.next();
	}
	const decision = step.value;
	if ("rolledBack" in decision) {
		return { value: decision.rolledBack, commit: false };
	}
	for (let again = 0; hooks.length > 0 && again < HOOKS_AGAIN; again++) {
		const most = again === 0 ? HOOKS_AGAIN_MS : HOOKS_SLOW_MS;
		if (performance.now() - began <= most) break;
		await runHooks();
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
		...(hooks.length > 0 && {
			commitBy: began + COMMIT_MS,
			whileCommitting: runHooks,
		}),
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
