import type { StatementTrace, WriteTrace } from "../../diagnostics.ts";
import type { CorkboardError } from "../../errors.ts";
import type { Model } from "../../model/types.ts";
import { type Deadline, deadlineIn } from "../../util/deadline.ts";
import { listName } from "../keys.ts";
import type { Transaction, TransactionResult } from "../storage.ts";
import { StorageFailure, toStorageError } from "../storageFailure.ts";
import { checkTransaction } from "../transactionRules.ts";
import { LockQueue } from "./lockQueue.ts";
import { typeNamed } from "./objects.ts";
import type { Shard } from "./shards.ts";
import {
	isGroupable,
	runTransactionGroup,
	type TransactionOutcome,
} from "./transaction.ts";

/** Most transactions of one list, or of one object, that run as one database transaction. */
const MAX_TOGETHER = 200;

interface Job {
	readonly shard: Shard;
	readonly transaction: Transaction<unknown>;
	readonly trace: WriteTrace | undefined;
	readonly limit: Deadline;
	readonly done: (result: TransactionOutcome) => void;
	/** Ends the wait for its rows. */
	readonly timer: NodeJS.Timeout;
	/** Whether its time was up before its turn came. */
	isOver: boolean;
}

/** All transactions of this process. Those that lock the same list or object wait for each other here, without a connection. */
export class TransactionQueue {
	readonly #model: Model;
	readonly #writeMs: number;
	readonly #queue: LockQueue<Job>;

	constructor(
		model: Model,
		limits: { readonly writeMs: number; readonly maxQueued: number },
	) {
		this.#model = model;
		this.#writeMs = limits.writeMs;
		this.#queue = new LockQueue({
			run: (jobs) => this.#run(jobs),
			maxTogether: MAX_TOGETHER,
			maxWaiting: limits.maxQueued,
		});
	}

	async run<T>(
		shard: Shard,
		transaction: Transaction<T>,
		trace?: WriteTrace,
	): Promise<TransactionResult<T>> {
		checkTransaction(transaction);
		for (const { type } of transaction.creates ?? []) {
			typeNamed(this.#model, type);
		}
		const rows = lockedRows(transaction);
		const result = await new Promise<TransactionOutcome>((done) => {
			const job: Job = {
				shard,
				transaction,
				trace,
				limit: deadlineIn(this.#writeMs),
				done,
				timer: setTimeout(() => {
					job.isOver = true;
					done({
						thrown: queueFailure(
							shard,
							"The rows of the transaction did not come free in time.",
						),
					});
				}, this.#writeMs),
				isOver: false,
			};
			if (!this.#queue.add(job, rows, isGroupable(transaction))) {
				clearTimeout(job.timer);
				done({ thrown: queueFailure(shard, "Too many transactions wait.") });
			}
		});
		if ("thrown" in result) throw result.thrown;
		return result as TransactionResult<T>;
	}

	/** Runs jobs of one shard. Returns how many, from the first, are done. */
	async #run(jobs: readonly Job[]): Promise<number> {
		const first = jobs[0] as Job;
		const live = jobs.filter(({ isOver }) => !isOver);
		for (const { timer } of live) clearTimeout(timer);
		if (live.length === 0) return jobs.length;
		let results: readonly TransactionOutcome[];
		try {
			results = await first.shard.host.transaction(
				{
					shard: first.shard.number,
					deadline: latest(live),
					trace: traceOf(live),
				},
				(statements) =>
					runTransactionGroup(
						statements,
						this.#model,
						first.shard,
						live.map(({ transaction }) => transaction),
					),
			);
		} catch (thrown) {
			if (live.length > 1 && mayBeOneJobs(thrown)) {
				return (
					jobs.indexOf(live[0] as Job) + (await this.#run([live[0] as Job]))
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
			live[index]?.trace?.grouped(results.length - 1);
			live[index]?.done(result);
		});
		const next = live[results.length];
		return next === undefined ? jobs.length : jobs.indexOf(next);
	}
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

/** Traces of the group go to each of its jobs that is traced. */
function traceOf(jobs: readonly Job[]): StatementTrace | undefined {
	const traces = jobs.flatMap(({ trace }) => trace ?? []);
	if (traces.length === 0) return undefined;
	return {
		statement(statement) {
			for (const trace of traces) trace.statement(statement);
		},
		retry(why) {
			for (const trace of traces) trace.retry(why);
		},
	};
}

/** Whether one job may have caused the failure, so that the others could succeed without it. */
function mayBeOneJobs(thrown: unknown): boolean {
	if (!(thrown instanceof StorageFailure)) return true;
	return thrown.kind === "constraint" || thrown.kind === "failed";
}

/** A group has the deadline of its last job, at most one transaction's time later than its own. */
function latest(jobs: readonly Job[]): Deadline {
	return { until: Math.max(...jobs.map(({ limit }) => limit.until)) };
}
