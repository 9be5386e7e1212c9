import type { MysqlTransaction } from "../../storage/mysql/driver/host.ts";
import type { Row } from "../../storage/mysql/driver/mysql2Connection.ts";
import type { Sql } from "../../storage/mysql/driver/mysqlConnection.ts";
import { StorageFailure } from "../../storage/storageFailure.ts";
import type { LocalId } from "../jobId.ts";
import {
	type Ack,
	type Acked,
	type ClaimedJob,
	type ClaimRange,
	STATE,
	type Turn,
	type Turned,
} from "../jobStore.ts";
import { afterAck, answerTo, withStatus } from "../jobTransitions.ts";
import { allow, type RateBucket, take } from "../rateLimit.ts";
import { type QueueCall, transact } from "./queueCall.ts";
import { byBucket, byClaim, type JobRow, rowOf } from "./rows.ts";
import {
	beginJobs,
	claimable,
	claimedBy,
	countJobs,
	deleteKeys,
	insertKeys,
	jobsById,
	lockQueue,
	type QueueTables,
	succeedJobs,
	writeRate,
	writeStep,
} from "./statements.ts";

/**
 * Words and claims in one transaction of two round trips: read and lock, then
 * write and COMMIT. What is locked is locked in one order by everybody who waits
 * for locks: acked jobs by bucket and id, then keys. Jobs to claim are never
 * waited for.
 */
export async function takeTurn(call: QueueCall, turn: Turn): Promise<Turned> {
	const { acks = [], claim } = turn;
	if (acks.length === 0 && claim === undefined) {
		return { acked: [], claimed: [] };
	}
	/** When claims of the last attempt end: finds them again. */
	let until = 0;
	try {
		return await transact(call, (statements, now) => {
			until = now + (claim?.claimMs ?? 0) * 1_000;
			return turnOnce(statements, call.tables, { acks, claim }, now, until);
		});
	} catch (thrown) {
		const isUnknown =
			thrown instanceof StorageFailure && thrown.kind === "unknownOutcome";
		if (!isUnknown) throw thrown;
		return await resolveTurn(call, { acks, claim }, until);
	}
}

interface Wanted {
	readonly acks: readonly Ack[];
	readonly claim: ClaimRange | undefined;
}

async function turnOnce(
	statements: MysqlTransaction,
	tables: QueueTables,
	{ acks, claim }: Wanted,
	now: number,
	until: number,
) {
	const allowance =
		claim?.limits == null
			? null
			: await allowed(statements, tables, claim, now);
	const range: ClaimRange | null =
		claim === undefined || allowance?.jobs === 0
			? null
			: { ...claim, limit: allowance?.jobs ?? claim.limit };
	const buckets = byBucket(acks);
	const answers = await statements.together([
		...buckets.map(([bucket, some]) =>
			jobsById(tables, some, { bucket, locked: true }),
		),
		...(range === null ? [] : [claimable(tables, range, now)]),
	]);
	const rows = answers.slice(0, buckets.length).flat() as Row[];
	const found = new Map<LocalId, Locked>(
		rows.map((row) => {
			const head = rowOf(row);
			return [head.local, { ...head, status: String(row[10]) }];
		}),
	);
	const taken = range === null ? [] : (answers.at(-1) as readonly Row[]);
	const heads = taken.map(rowOf);
	const words = await wordsOf(statements, tables, acks, found);
	await lockKeys(statements, tables, words, heads);

	const last: Sql[] = [...writesOf(tables, words, now)];
	if (range !== null && heads.length > 0) {
		last.push(...deleteKeys(tables, heads));
		last.push(beginJobs(tables, range, heads, until));
	}
	if (allowance !== null) {
		last.push(writeRate(tables, take(allowance.bucket, heads.length)));
	}
	const turned: Turned = {
		acked: words.map(({ answer }) => answer ?? "done"),
		claimed: taken.map((row, index) =>
			claimedOf(
				heads[index] as JobRow,
				String(row[10]),
				claim as ClaimRange,
				until,
			),
		),
		...(allowance !== null && { waitMs: allowance.waitMs }),
	};
	// Nothing is lost if a transaction that wrote nothing is rolled back.
	if (last.length === 0) return { value: turned, commit: false };
	return { last, valueOf: () => turned, commit: true } as const;
}

type Locked = JobRow & { readonly status: string };

/** A word, the job it is for, and the answer where there is nothing to do. */
interface Word {
	readonly ack: Ack;
	readonly job: Locked | null;
	readonly answer: Acked | null;
}

async function wordsOf(
	statements: MysqlTransaction,
	tables: QueueTables,
	acks: readonly Ack[],
	found: ReadonlyMap<LocalId, Locked>,
): Promise<readonly Word[]> {
	// A job that is not where it was claimed is not running any more.
	const missing = acks.filter(({ local }) => !found.has(local));
	const elsewhere = new Map<LocalId, JobRow>();
	if (missing.length > 0) {
		for (const row of await statements.rows(jobsById(tables, missing))) {
			const head = rowOf(row);
			elsewhere.set(head.local, head);
		}
	}
	return acks.map((ack): Word => {
		const job = found.get(ack.local) ?? null;
		if (job !== null) return { ack, job, answer: answerTo(job, ack) };
		const moved = elsewhere.get(ack.local) ?? null;
		return { ack, job, answer: answerTo(moved, ack) ?? "lost" };
	});
}

/** Where a turn both gives keys up and takes some, all of them in one order before anything is written. */
async function lockKeys(
	statements: MysqlTransaction,
	tables: QueueTables,
	words: readonly Word[],
	claimed: readonly JobRow[],
): Promise<void> {
	const kept = words.some(({ job, answer }) => answer === null && job?.key);
	const ended = claimed.flatMap(({ key }) => (key === null ? [] : [key]));
	if (!kept || ended.length === 0) return;
	const keys = words.flatMap(({ job, answer }) =>
		answer === null && job?.key ? [job.key] : [],
	);
	await statements.rows({
		name: "lock keys",
		text: `SELECT unique_key FROM ${tables.keys} WHERE unique_key IN (?)
			ORDER BY unique_key FOR UPDATE`,
		values: [[...keys, ...ended].toSorted()],
	});
}

function* writesOf(
	tables: QueueTables,
	words: readonly Word[],
	now: number,
): Generator<Sql> {
	const todo = words.filter(({ answer }) => answer === null);
	const plain = todo.filter(({ ack }) => isPlainSuccess(ack));
	for (const acks of byClaim(plain.map(({ ack }) => ack))) {
		yield succeedJobs(tables, acks, now);
	}
	const steps = todo
		.filter(({ ack }) => !isPlainSuccess(ack))
		.map(({ ack, job }) => {
			const locked = job as Locked;
			return { ack, locked, step: afterAck(locked, ack, now) };
		});
	const keyed = steps.flatMap(({ locked, step }) =>
		locked.key !== null && step.state === STATE.pending
			? [{ local: locked.local, key: locked.key }]
			: [],
	);
	if (keyed.length > 0) yield insertKeys(tables, keyed);
	for (const { ack, locked, step } of steps) {
		yield writeStep(tables, locked, step, {
			...(ack.body !== undefined && { body: ack.body }),
			...(ack.status !== undefined && {
				status: withStatus(locked.status, ack.status),
			}),
		});
	}
}

function isPlainSuccess({ kind, body, status, allowed }: Ack): boolean {
	return (
		kind === "succeed" &&
		body === undefined &&
		status === undefined &&
		allowed === undefined
	);
}

/** Under the lock of the queue's row, which this takes. */
async function allowed(
	statements: MysqlTransaction,
	tables: QueueTables,
	{ limits, limit }: ClaimRange,
	now: number,
) {
	if (limits == null) return null;
	const [row] = await statements.rows(lockQueue(tables));
	const [tokens, filledAt] = row ?? [0, 0];
	const bucket: RateBucket = {
		tokens: Number(tokens),
		filledAt: Number(filledAt),
	};
	const running =
		limits.maxRunning === null
			? 0
			: await countRunning(statements, tables, limits.maxRunning);
	return allow(limits, bucket, { wanted: limit, running, now });
}

async function countRunning(
	statements: MysqlTransaction,
	tables: QueueTables,
	cap: number,
): Promise<number> {
	const [[running] = []] = await statements.rows(
		countJobs(tables, { state: "running" }, cap),
	);
	return Number(running);
}

function claimedOf(
	row: JobRow,
	body: string,
	{ claim }: ClaimRange,
	until: number,
): ClaimedJob {
	return {
		local: row.local,
		bucket: row.bucket,
		claim,
		priority: row.priority,
		attempts: row.attempts + 1,
		allowed: row.allowed,
		createdAt: row.createdAt,
		dueAt: row.at,
		until,
		key: row.key,
		body,
	};
}

/** After a COMMIT without an answer: words are said again, and claims are looked up. When they were due is not known any more. */
async function resolveTurn(
	call: QueueCall,
	{ acks, claim }: Wanted,
	until: number,
): Promise<Turned> {
	const { tables } = call;
	const { acked } = await takeTurn(call, { acks });
	if (claim === undefined) return { acked, claimed: [] };
	const rows = await transact(call, async (statements) => ({
		value: await statements.rows(claimedBy(tables, claim, until)),
		commit: false,
	}));
	return {
		acked,
		claimed: rows.map((row) => {
			const head = rowOf(row);
			const before = {
				...head,
				attempts: head.attempts - 1,
				at: head.createdAt,
			};
			return claimedOf(before, String(row[10]), claim, until);
		}),
	};
}
