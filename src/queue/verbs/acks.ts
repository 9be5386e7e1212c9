import type { ShardLocation } from "../../storage/driver.ts";
import type { StatementBatch } from "../../storage/statements/batch.ts";
import type { Write } from "../../storage/statements/dialect.ts";
import { type Ack, type Acked, STATE } from "../jobStore.ts";
import {
	afterAck,
	answerTo,
	type JobRow,
	type JobTransition,
	withStatus,
} from "../jobTransitions.ts";
import { succeedJobs } from "../statements/claims.ts";
import type { QueueTables } from "../statements/dialect.ts";
import { findJobs, writeTransition } from "../statements/jobs.ts";
import { insertKeys } from "../statements/keys.ts";
import { byBucket, byClaim, type FoundJob } from "../statements/rows.ts";
import { type InTransaction, read } from "./queueCall.ts";

/** Acks of workers, and what writes them. */
interface PreparedAcks {
	/** Whether the lock of the queue has to be held. */
	readonly needsQueue: boolean;
	readonly writes: readonly AckWrite[];
	/** An answer for each ack, in their order, if each write changes what it names. */
	readonly answers: readonly Acked[];
}

interface AckWrite {
	readonly write: Write;
	/** The acks that it applies only if the jobs still run with their token: a row for each. */
	readonly unread?: readonly Ack[];
}

export function* prepareAcks(
	tables: QueueTables,
	acks: readonly Ack[],
	now: number,
): InTransaction<PreparedAcks> {
	if (!acks.every(isPlainSuccess))
		return yield* prepareTransitions(tables, acks, now);
	// One statement for each bucket and token, and no row is read before.
	return {
		needsQueue: false,
		writes: byClaim(acks).map((some) => ({
			write: succeedJobs(tables, some, now),
			unread: some,
		})),
		answers: acks.map(() => "done"),
	};
}

function isPlainSuccess({ kind, body, status, allowed }: Ack): boolean {
	return (
		kind === "succeed" &&
		body === undefined &&
		status === undefined &&
		allowed === undefined
	);
}

/** Writes acks in a batch. Those of a write that changes fewer jobs than it names become doubtful. */
export function writeAcks(
	batch: StatementBatch<ShardLocation>,
	{ shard }: QueueTables,
	writes: readonly AckWrite[],
	doubtful: Ack[],
): void {
	for (const { write, unread = [] } of writes) {
		batch.write(shard, write, ({ affected }) => {
			if (affected < unread.length) doubtful.push(...unread);
		});
	}
}

/** The answers to acks of which some are doubtful: those are looked at. */
export function* answersTo(
	tables: QueueTables,
	acks: readonly Ack[],
	answers: readonly Acked[],
	doubtful: readonly Ack[],
): InTransaction<readonly Acked[]> {
	if (doubtful.length === 0) return answers;
	const jobs = byLocal(yield* read(tables, findJobs(tables, doubtful)));
	const asked = new Set(doubtful);
	return acks.map((ack, index): Acked => {
		if (!asked.has(ack)) return answers[index] as Acked;
		// If it runs with this token, it has been stored again since (../mysql/swappedOut.ts).
		return answerTo(jobs.get(ack.local)?.head ?? null, ack) ?? "absent";
	});
}

interface PreparedTransition {
	readonly ack: Ack;
	readonly answer: Acked;
	/** Null if nothing is to be written. */
	readonly change: {
		readonly job: FoundJob;
		readonly next: JobTransition;
	} | null;
}

/**
 * Reads and locks the jobs of the acks, in order of bucket and id. A job that is
 * not where it was claimed is not running any more: it is read for the answer
 * only. Or it was swapped out, and is asked for again (../mysql/swappedOut.ts).
 */
function* prepareTransitions(
	tables: QueueTables,
	acks: readonly Ack[],
	now: number,
): InTransaction<PreparedAcks> {
	const locked = byLocal(
		yield* read(
			tables,
			...byBucket(acks).map(([bucket, some]) =>
				findJobs(tables, some, { bucket, locked: true }),
			),
		),
	);
	const missing = acks.filter(({ local }) => !locked.has(local));
	const elsewhere = byLocal(
		missing.length === 0 ? [] : yield* read(tables, findJobs(tables, missing)),
	);
	const prepared = acks.map((ack): PreparedTransition => {
		const job = locked.get(ack.local);
		if (job === undefined) {
			const moved = elsewhere.get(ack.local)?.head ?? null;
			return { ack, answer: answerTo(moved, ack) ?? "absent", change: null };
		}
		const answer = answerTo(job.head, ack);
		if (answer !== null) return { ack, answer, change: null };
		const next = afterAck(job.head, ack, now);
		return { ack, answer: "done", change: { job, next } };
	});
	const changes = prepared.flatMap(({ ack, change }) =>
		change === null ? [] : [{ ...change, row: change.job.head, ack }],
	);
	const keyWrites = takeKeysBack(tables, changes);
	return {
		needsQueue: keyWrites.length > 0,
		writes: [
			...keyWrites,
			...changes.map(({ ack, job, next }) => writeAck(tables, ack, job, next)),
		].map((write) => ({ write })),
		answers: prepared.map(({ answer }) => answer),
	};
}

/** Tries to take the keys of jobs that become pending again. If several jobs had one key, one of them gets it. */
export function takeKeysBack(
	tables: QueueTables,
	transitions: readonly {
		readonly row: JobRow;
		readonly next: JobTransition;
	}[],
): readonly Write[] {
	const keyed = transitions.flatMap(({ row: { key, local }, next }) =>
		key !== null && next.state === STATE.pending
			? [[key, { key, local }] as const]
			: [],
	);
	return insertKeys(tables, [...new Map(keyed).values()]);
}

function writeAck(
	tables: QueueTables,
	{ body, status }: Ack,
	job: FoundJob,
	next: JobTransition,
): Write {
	return writeTransition(tables, job.head, next, {
		...(body !== undefined && { body }),
		...(status !== undefined && {
			status: withStatus(job.status ?? "", status),
		}),
	});
}

function byLocal(
	jobs: readonly FoundJob[],
): ReadonlyMap<JobRow["local"], FoundJob> {
	return new Map(jobs.map((job) => [job.head.local, job]));
}
