import type { MysqlTransaction } from "../../storage/mysql/driver/commitProtocol.ts";
import type {
	Result,
	Row,
} from "../../storage/mysql/driver/mysql2Connection.ts";
import type { Sql } from "../../storage/mysql/driver/mysqlConnection.ts";
import type { LocalId } from "../jobId.ts";
import { type Ack, type Acked, STATE } from "../jobStore.ts";
import {
	afterAck,
	answerTo,
	type JobRow,
	type JobTransition,
	withStatus,
} from "../jobTransitions.ts";
import { byBucket, rowOf } from "./rows.ts";
import {
	insertKeys,
	jobsById,
	type QueueTables,
	writeStep,
} from "./statements.ts";

/** Acks of workers, with the statements that write them. */
export interface PreparedAcks {
	/** Whether the lock of the queue has to be held. */
	readonly needsQueue: boolean;
	readonly writes: readonly Sql[];
	/** Runs what is left, given the results of the writes. Returns an answer for each ack, in their order. */
	complete(
		statements: MysqlTransaction,
		results: readonly Result[],
	): Promise<readonly Acked[]>;
}

type Locked = JobRow & { readonly status: string };

interface PreparedAck {
	readonly ack: Ack;
	readonly answer: Acked;
	/** Null where nothing is to be written. */
	readonly change: {
		readonly job: Locked;
		readonly step: JobTransition;
	} | null;
}

/** Reads and locks the jobs of the acks, in order of bucket and id. */
export async function prepareAcks(
	statements: MysqlTransaction,
	tables: QueueTables,
	acks: readonly Ack[],
	now: number,
): Promise<PreparedAcks> {
	const rows = await statements.together(
		byBucket(acks).map(([bucket, some]) =>
			jobsById(tables, some, { bucket, locked: true }),
		),
	);
	const found = new Map<LocalId, Locked>(
		(rows.flat() as Row[]).map((row) => {
			const head = rowOf(row);
			return [head.local, { ...head, status: String(row[10]) }];
		}),
	);
	const elsewhere = await readElsewhere(statements, tables, acks, found);
	const prepared = acks.map((ack): PreparedAck => {
		const job = found.get(ack.local);
		if (job === undefined) {
			const moved = elsewhere.get(ack.local) ?? null;
			return { ack, answer: answerTo(moved, ack) ?? "absent", change: null };
		}
		const answer = answerTo(job, ack);
		return answer === null
			? { ack, answer: "done", change: { job, step: afterAck(job, ack, now) } }
			: { ack, answer, change: null };
	});
	const keyed = firstsOf(
		prepared.flatMap(({ change }) =>
			change?.job.key != null && change.step.state === STATE.pending
				? [{ local: change.job.local, key: change.job.key }]
				: [],
		),
	);
	return {
		needsQueue: keyed.length > 0,
		writes: [
			...(keyed.length > 0 ? [insertKeys(tables, keyed)] : []),
			...prepared.flatMap(({ ack, change }) =>
				change === null ? [] : [writeAck(tables, ack, change)],
			),
		],
		complete: async () => prepared.map(({ answer }) => answer),
	};
}

/**
 * A job that is not where it was claimed is not running any more: it is read for
 * the answer only. Or it was swapped out, and is asked for again (./swappedOut.ts).
 */
async function readElsewhere(
	statements: MysqlTransaction,
	tables: QueueTables,
	acks: readonly Ack[],
	found: ReadonlyMap<LocalId, unknown>,
): Promise<ReadonlyMap<LocalId, JobRow>> {
	const missing = acks.filter(({ local }) => !found.has(local));
	if (missing.length === 0) return new Map();
	const rows = await statements.rows(jobsById(tables, missing));
	return new Map(rows.map(rowOf).map((job) => [job.local, job]));
}

function writeAck(
	tables: QueueTables,
	{ body, status }: Ack,
	{ job, step }: { readonly job: Locked; readonly step: JobTransition },
): Sql {
	return writeStep(tables, job, step, {
		...(body !== undefined && { body }),
		...(status !== undefined && { status: withStatus(job.status, status) }),
	});
}

/** If several jobs had one key, one of them gets it back. */
export function firstsOf<Keyed extends { readonly key: string }>(
	keyed: readonly Keyed[],
): readonly Keyed[] {
	return [...new Map(keyed.map((each) => [each.key, each])).values()];
}
