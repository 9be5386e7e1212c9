import { setTimeout as sleep } from "node:timers/promises";
import type { CorkboardError } from "../../../errors.ts";
import type { Model } from "../../../model/types.ts";
import type { WriteTrace } from "../../../trace.ts";
import { deadlineIn } from "../../../util/deadline.ts";
import { listName } from "../../keys.ts";
import type { ListKey, Transaction, TransactionResult } from "../../rows.ts";
import { typeNamed } from "../../statements/objects.ts";
import type { TransactionOutcome } from "../../statements/transaction.ts";
import { StorageFailure, toStorageError } from "../../storageFailure.ts";
import { checkTransaction } from "../../transactionRules.ts";
import type { Host } from "../driver/host.ts";
import type { Shard } from "../shards.ts";
import {
	type HostTransaction,
	type HostTransactionLimits,
	HostTransactions,
	SLOW_MS,
} from "./hostTransactions.ts";
import { LockQueue } from "./lockQueue.ts";
import { isGroupable } from "./transaction.ts";

/** Most transactions of one list, or of one object, that run as one database transaction. */
const MAX_TOGETHER = 200;

/** The share of a slow host's answer time for which a write waits for others: nobody notices it. */
const GATHERED_SHARE = 0.1;

interface TransactionLimits extends HostTransactionLimits {
	/** How long a transaction waits for its rows. Milliseconds. */
	readonly rowsMs: number;
}

interface QueuedTransaction extends HostTransaction {
	readonly rows: readonly string[];
	readonly done: (result: TransactionOutcome) => void;
	/** Ends the wait for its rows; absent if it does not wait. */
	timer: NodeJS.Timeout | undefined;
	hasStarted: boolean;
	/** Whether its time was up before its turn came. */
	isOver: boolean;
}

/** All transactions of this process. Those that lock the same list or object wait for each other here, without a connection. */
export class TransactionQueue {
	readonly #model: Model;
	readonly #limits: TransactionLimits;
	readonly #queue: LockQueue<QueuedTransaction>;
	readonly #byHost = new Map<Host, HostTransactions>();
	readonly #gathering = new Map<Host, Promise<void>>();

	constructor(
		model: Model,
		limits: TransactionLimits & { readonly maxQueued: number },
	) {
		this.#model = model;
		this.#limits = limits;
		this.#queue = new LockQueue({
			run: this.#run,
			maxTogether: MAX_TOGETHER,
			maxWaiting: limits.maxQueued,
		});
	}

	/** Whether nobody holds these lists or waits for them, as far as this process knows. */
	isFree(host: Host, lists: readonly ListKey[]): boolean {
		const rows = lists.map(({ mapping, from }) => listName(mapping, from));
		return (
			!rows.some((row) => this.#queue.has(row)) &&
			!this.#byHost.get(host)?.isContended(rows)
		);
	}

	/** `beside`: another shard of the same host, whose lists it changes too. */
	readonly run = async <T>(
		shard: Shard,
		beside: Shard | undefined,
		transaction: Transaction<T>,
		trace?: WriteTrace,
	): Promise<TransactionResult<T>> => {
		checkTransaction(transaction);
		for (const { type } of transaction.creates ?? []) {
			typeNamed(this.#model, type);
		}
		const gathering = this.#gather(shard.host);
		if (gathering !== null) await gathering;
		const rows = lockedRows(transaction);
		const { rowsMs, writeMs } = this.#limits;
		const { promise, resolve: done } =
			Promise.withResolvers<TransactionOutcome>();
		const one: QueuedTransaction = {
			shard,
			...(beside && { beside }),
			transaction,
			trace,
			rows,
			limit: deadlineIn(rowsMs + writeMs),
			done,
			timer: undefined,
			hasStarted: false,
			isOver: false,
		};
		if (!this.#queue.add(one, rows, isGroupable(transaction))) {
			throw queueFailure(shard, "Too many transactions wait.");
		}
		if (!one.hasStarted) {
			one.timer = setTimeout(() => {
				one.isOver = true;
				const problem =
					"The rows of the transaction did not come free in time.";
				done({ thrown: queueFailure(shard, problem) });
			}, rowsMs);
		}
		const result = await promise;
		if ("thrown" in result) throw result.thrown;
		return result as TransactionResult<T>;
	};

	/** What comes within so long to a slow host begins together: another transaction of the same row waits for the end of the first else. */
	#gather(host: Host): Promise<void> | null {
		const { leastAnswerMs } = host;
		if (leastAnswerMs < SLOW_MS) return null;
		let gathering = this.#gathering.get(host);
		if (gathering === undefined) {
			gathering = sleep(leastAnswerMs * GATHERED_SHARE).then(() => {
				this.#gathering.delete(host);
			});
			this.#gathering.set(host, gathering);
		}
		return gathering;
	}

	#transactionsOf(host: Host): HostTransactions {
		let transactions = this.#byHost.get(host);
		if (transactions === undefined) {
			transactions = new HostTransactions(host, this.#model, this.#limits);
			this.#byHost.set(host, transactions);
		}
		return transactions;
	}

	/** Runs transactions of one shard. Returns how many, from the first, are done. */
	readonly #run = async (
		queued: readonly QueuedTransaction[],
	): Promise<number> => {
		const first = queued[0] as QueuedTransaction;
		const live = queued.filter(({ isOver }) => !isOver);
		for (const one of live) {
			one.hasStarted = true;
			clearTimeout(one.timer);
		}
		if (live.length === 0) return queued.length;
		let results: readonly TransactionOutcome[];
		try {
			results = await this.#transactionsOf(first.shard.host).run(
				live,
				rowsOf(live),
			);
		} catch (thrown) {
			if (live.length > 1 && isOfOneTransaction(thrown)) {
				return (
					queued.indexOf(live[0] as QueuedTransaction) +
					(await this.#run([live[0] as QueuedTransaction]))
				);
			}
			results = live.map(({ shard }) => ({
				thrown:
					thrown instanceof StorageFailure
						? toStorageError(thrown, shard.number)
						: thrown,
			}));
		}
		results.forEach((result, index) => {
			live[index]?.done(result);
		});
		const next = live[results.length];
		return next === undefined ? queued.length : queued.indexOf(next);
	};
}

function rowsOf(queued: readonly QueuedTransaction[]): readonly string[] {
	return queued.length === 1
		? (queued[0] as QueuedTransaction).rows
		: [...new Set(queued.flatMap(({ rows }) => rows))];
}

/** Lists first, as they are locked. */
function lockedRows({
	lists = [],
	objects = [],
}: Transaction<unknown>): readonly string[] {
	const names = lists.map(({ mapping, from }) => listName(mapping, from));
	return [...new Set([...names, ...objects])];
}

function queueFailure(shard: Shard, problem: string): CorkboardError {
	const { name } = shard.host;
	return toStorageError(
		new StorageFailure("poolExhausted", problem, {
			host: name,
			statement: "queue",
		}),
		shard.number,
	);
}

/** Whether one transaction may have caused the failure, so that the others could succeed without it. */
function isOfOneTransaction(thrown: unknown): boolean {
	if (!(thrown instanceof StorageFailure)) return true;
	return ["constraint", "failed", "moved"].includes(thrown.kind);
}
