import type { StatementTrace, WriteTrace } from "../../diagnostics.ts";
import type { CorkboardError } from "../../errors.ts";
import type { Model } from "../../model/types.ts";
import { type Deadline, deadlineIn } from "../../util/deadline.ts";
import { listName } from "../keys.ts";
import type { Transaction, TransactionResult } from "../storage.ts";
import { StorageFailure, toStorageError } from "../storageFailure.ts";
import { checkTransaction } from "../transactionRules.ts";
import { ListQueue } from "./listQueue.ts";
import { typeNamed } from "./objects.ts";
import type { Shard } from "./shards.ts";
import {
	isGroupable,
	runTransactionGroup,
	type SettledTransaction,
} from "./transaction.ts";

/** Transactions of one list that become one of the database: PROTOCOLS §1. */
const MAX_TOGETHER = 200;

interface Job {
	readonly shard: Shard;
	readonly transaction: Transaction<unknown>;
	readonly trace: WriteTrace | undefined;
	readonly limit: Deadline;
	readonly done: (outcome: SettledTransaction) => void;
	/** Runs until its turn comes. */
	readonly timer: NodeJS.Timeout;
	/** Its time was over before its turn came, and it was told so. */
	isOver: boolean;
}

/** All transactions of this process: those that share a list wait for one another here, without a connection. */
export class TransactionQueue {
	readonly #model: Model;
	readonly #writeMs: number;
	readonly #queue: ListQueue<Job>;

	constructor(
		model: Model,
		limits: { readonly writeMs: number; readonly maxQueued: number },
	) {
		this.#model = model;
		this.#writeMs = limits.writeMs;
		this.#queue = new ListQueue({
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
		const names = transaction.lists?.map(({ mapping, from }) =>
			listName(mapping, from),
		);
		const lists = [...new Set(names)];
		const outcome = await new Promise<SettledTransaction>((done) => {
			const job: Job = {
				shard,
				transaction,
				trace,
				limit: deadlineIn(this.#writeMs),
				done,
				timer: setTimeout(() => {
					job.isOver = true;
					done({ thrown: tooMany(shard, "its lists to come free in time") });
				}, this.#writeMs),
				isOver: false,
			};
			if (!this.#queue.add(job, lists, isGroupable(transaction))) {
				clearTimeout(job.timer);
				done({ thrown: tooMany(shard, "fewer transactions waiting") });
			}
		});
		if ("thrown" in outcome) throw outcome.thrown;
		return outcome as TransactionResult<T>;
	}

	/** Jobs of one shard. Answers how many, from the first, are dealt with. */
	async #run(jobs: readonly Job[]): Promise<number> {
		const first = jobs[0] as Job;
		const live = jobs.filter(({ isOver }) => !isOver);
		for (const { timer } of live) clearTimeout(timer);
		if (live.length === 0) return jobs.length;
		let outcomes: readonly SettledTransaction[];
		try {
			outcomes = await first.shard.host.transaction(
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
			if (live.length > 1 && isOnesOwn(thrown)) {
				return (
					jobs.indexOf(live[0] as Job) + (await this.#run([live[0] as Job]))
				);
			}
			outcomes = live.map(({ shard }) => ({
				thrown:
					thrown instanceof StorageFailure
						? toStorageError(thrown, shard.number)
						: thrown,
			}));
		}
		outcomes.forEach((outcome, index) => {
			live[index]?.trace?.grouped(outcomes.length - 1);
			live[index]?.done(outcome);
		});
		const next = live[outcomes.length];
		return next === undefined ? jobs.length : jobs.indexOf(next);
	}
}

function tooMany(shard: Shard, expected: string): CorkboardError {
	const { name } = shard.host;
	return toStorageError(
		new StorageFailure(
			"poolExhausted",
			`expected ${expected} but got: too many`,
			{
				host: name,
				statement: "queue",
			},
		),
		shard.number,
	);
}

/** What the group does is told to each of it that is watched. */
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

/** Whether one of many may be to blame, and the others would do without it. */
function isOnesOwn(thrown: unknown): boolean {
	if (!(thrown instanceof StorageFailure)) return true;
	return thrown.kind === "constraint" || thrown.kind === "failed";
}

/** The others of a group wait for the one that came last, which is at most a transaction's time longer. */
function latest(jobs: readonly Job[]): Deadline {
	return { until: Math.max(...jobs.map(({ limit }) => limit.until)) };
}
