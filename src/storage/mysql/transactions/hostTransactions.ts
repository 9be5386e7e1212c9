import type { Model } from "../../../model/types.ts";
import type { RetryReason, WriteTrace } from "../../../trace.ts";
import { Batcher } from "../../../util/batcher.ts";
import type { Deadline } from "../../../util/deadline.ts";
import { SeenTexts } from "../../../util/seenTexts.ts";
import { publishRetry } from "../../diagnostics.ts";
import type { Transaction } from "../../rows.ts";
import type {
	ShardTransaction,
	TransactionContext,
} from "../../statements/lockedRows.ts";
import type {
	GroupOutcomes,
	TransactionOutcome,
} from "../../statements/transaction.ts";
import { type FailureKind, StorageFailure } from "../../storageFailure.ts";
import { MYSQL } from "../dialect.ts";
import type { Host } from "../driver/host.ts";
import { conflictReason, isOfOneDatabase } from "../driver/toStorageFailure.ts";
import { mergeTraces } from "../mergeTraces.ts";
import type { Shard } from "../shards.ts";
import { runTransactionGroup } from "./transaction.ts";

/** A transaction that was asked for. */
export interface HostTransaction extends ShardTransaction<Shard> {
	readonly trace: WriteTrace | undefined;
	/** With all its waits. */
	readonly limit: Deadline;
}

export interface HostTransactionLimits {
	/** Time for a database transaction, with all retries. Milliseconds. */
	readonly writeMs: number;
	/** How long transactions wait for one that runs. Milliseconds. */
	readonly gatherMs: number;
}

/** Transactions that share a row, in their order. */
type Unit = readonly HostTransaction[];

interface Waiting {
	readonly unit: Unit;
	readonly resolve: (outcomes: readonly TransactionOutcome[]) => void;
	readonly reject: (thrown: unknown) => void;
}

/** Most units of one database transaction. */
const MOST_UNITS = 32;
/** A unit with more keys than this runs by itself, such as a batch of an import. */
const MOST_KEYS = 64;
/** Database transactions of many units that run at once. */
const MOST_RUNNING = 4;
/** A host is slow, if each answer takes longer. Milliseconds. */
export const SLOW_MS = 250;
/** How many a transaction takes. */
const ROUND_TRIPS = 2;
/** How long transactions of a row for whose lock another process was waited for run by themselves. Milliseconds. */
const CONTENDED_MS = 10_000;
const MOST_CONTENDED = 10_000;
/** That are known to have a row. */
const KNOWN_LISTS = 32_768;
/** A transaction that took longer alone has waited for a lock, most likely. Milliseconds. */
const LOCK_MS = 500;

/**
 * Transactions of one host. Those that come in one turn of the event loop, or
 * while others run, share one database transaction: one connection, two round
 * trips and one COMMIT, on all shards of the host. They succeed
 * and fail by themselves all the same: if the shared one fails, each runs alone.
 * They wait for the one that runs, but not longer than `gatherMs`: its COMMIT may
 * be slow, or another process may hold a row that it locks.
 *
 * Nothing that shares waits for another process's lock more than once: a row that
 * was waited for is contended, and for some time its transactions run alone.
 */
export class HostTransactions {
	readonly #host: Host;
	readonly #context: TransactionContext<Shard>;
	readonly #waiting: Batcher<Waiting>;
	/** By row, until when. On the clock of `performance.now()`. */
	readonly #contended = new Map<string, number>();
	readonly #writeMs: number;

	constructor(
		host: Host,
		model: Model,
		{ writeMs, gatherMs }: HostTransactionLimits,
	) {
		this.#host = host;
		this.#writeMs = writeMs;
		const known = new SeenTexts(KNOWN_LISTS);
		this.#context = { dialect: MYSQL, model, known };
		this.#waiting = new Batcher({
			send: this.#runTogether,
			countOf: ({ length }) => Math.min(length, MOST_UNITS),
			maxRunning: MOST_RUNNING,
			apartMs: () => this.#apartMs(gatherMs),
		});
	}

	/** The outcomes of the unit's first transactions: at least one. `rows` are what it locks. */
	async run(
		unit: Unit,
		rows: readonly string[],
	): Promise<readonly TransactionOutcome[]> {
		const mayShare =
			!this.isContended(rows) &&
			unit.every(({ transaction }) => isShareable(transaction));
		if (!mayShare) return this.#runAlone(unit);
		const isOfTwo = unit.some(({ beside }) => beside !== undefined);
		let began = performance.now();
		const shared = Promise.withResolvers<readonly TransactionOutcome[]>();
		this.#waiting.add({ unit, ...shared });
		try {
			const outcomes = await shared.promise;
			if (outcomes.length > 0) return outcomes;
		} catch (thrown) {
			if (isOfTwo && performance.now() - began > LOCK_MS) this.#contend(rows);
			throw thrown;
		}
		if (isOfTwo) throw triedOnce(unit);
		began = performance.now();
		try {
			return await this.#runAlone(unit);
		} finally {
			if (performance.now() - began > LOCK_MS) this.#contend(rows);
		}
	}

	/** Runs units as one database transaction. A unit gets no outcomes if it, or its first transaction, has to run alone. */
	readonly #runTogether = async (
		waiting: readonly Waiting[],
		isAgain = false,
	): Promise<void> => {
		const queued = waiting.flatMap(({ unit }) => unit);
		const isAlone = waiting.length === 1;
		let outcomes: GroupOutcomes | null;
		try {
			outcomes = await this.#host.transaction<GroupOutcomes | null>(
				{
					shard: (queued[0] as HostTransaction).shard.number,
					deadline: latest(queued),
					heldMs: this.#writeMs,
					trace: mergeTraces(queued.flatMap(({ trace }) => trace ?? [])),
					requests: queued.length,
					decides: true,
					isTriedOnce:
						!isAlone || queued.some(({ beside }) => beside !== undefined),
				},
				(statements) => runTransactionGroup(statements, this.#context, queued),
			);
		} catch (thrown) {
			const conflict = conflictReason(thrown);
			if (conflict !== null && !isAlone) {
				publishRetry({ host: this.#host.name, reason: conflict });
			}
			// The transaction that met them keeps its locks, and each by itself could meet it again.
			if (conflict === "deadlock" && !isAlone && !isAgain) {
				for (const { trace } of queued) trace?.retry(conflict);
				return this.#runTogether(waiting, true);
			}
			const reason: RetryReason = conflict ?? "shared";
			for (const { unit, resolve, reject } of waiting) {
				if (isAlone || isOfAll(thrown)) {
					reject(thrown);
					continue;
				}
				for (const { trace } of unit) trace?.retry(reason);
				resolve([]);
			}
			return;
		}
		const ran = outcomes?.filter((outcome) => outcome !== null).length ?? 0;
		for (const [at, { trace }] of queued.entries()) {
			if ((outcomes?.[at] ?? null) !== null) trace?.grouped(ran - 1);
		}
		let at = 0;
		for (const { unit, resolve } of waiting) {
			const own = outcomes?.slice(at, at + unit.length) ?? [null];
			at += unit.length;
			const end = own.indexOf(null);
			resolve((end < 0 ? own : own.slice(0, end)) as TransactionOutcome[]);
		}
	};

	/** The unit's first transaction decides how many run: one that renumbers or recounts does so alone. */
	async #runAlone(unit: Unit): Promise<readonly TransactionOutcome[]> {
		const ran = Promise.withResolvers<readonly TransactionOutcome[]>();
		void this.#runTogether([{ unit, ...ran }]);
		const outcomes = await ran.promise;
		if (outcomes.length > 0) return outcomes;
		const [only] = unit;
		return this.#runAlone([only as HostTransaction]);
	}

	/**
	 * On a slow host without an idle connection, units wait for one of those that run:
	 * each of them would wait as long for a connection, and go by itself then.
	 */
	#apartMs(gatherMs: number): number {
		const { leastAnswerMs, isFreeForTransactions } = this.#host;
		if (leastAnswerMs < SLOW_MS || isFreeForTransactions) return gatherMs;
		return Math.max(gatherMs, (ROUND_TRIPS * leastAnswerMs) / MOST_RUNNING);
	}

	/** Whether another process kept one of these rows locked not long ago. */
	isContended(rows: readonly string[]): boolean {
		if (this.#contended.size === 0) return false;
		const now = performance.now();
		return rows.some((row) => {
			const until = this.#contended.get(row);
			if (until === undefined) return false;
			if (until > now) return true;
			this.#contended.delete(row);
			return false;
		});
	}

	#contend(rows: readonly string[]): void {
		if (this.#contended.size >= MOST_CONTENDED) this.#contended.clear();
		const until = performance.now() + CONTENDED_MS;
		for (const row of rows) this.#contended.set(row, until);
	}
}

function isShareable({
	lists = [],
	objects = [],
	edges = [],
	neighbors = [],
	creates = [],
}: Transaction<unknown>): boolean {
	return (
		neighbors.length === 0 &&
		lists.length + objects.length + edges.length + creates.length <= MOST_KEYS
	);
}

/** The caller has another way: a transaction for each shard, which nobody has to wait for both of. */
function triedOnce([one]: Unit): StorageFailure {
	return new StorageFailure("conflict", "A row was not free in time.", {
		host: one?.shard.host.name ?? "",
		statement: "transaction of two shards",
	});
}

/** Whether running each by itself would not help, or might do things twice. */
function isOfAll(thrown: unknown): boolean {
	return (
		thrown instanceof StorageFailure &&
		OF_ALL.has(thrown.kind) &&
		!isOfOneDatabase(thrown)
	);
}

const OF_ALL: ReadonlySet<FailureKind> = new Set<FailureKind>([
	"unknownOutcome",
	"connectionLost",
	"poolExhausted",
	"readOnly",
	"diskFull",
	"stopped",
	"unsupported",
]);

/** A group may take as long as its last transaction. */
function latest(queued: Unit): Deadline {
	return { until: Math.max(...queued.map(({ limit }) => limit.until)) };
}
