import type {
	CommitDecision,
	MysqlTransaction,
} from "../../storage/mysql/driver/commitProtocol.ts";
import type {
	Row,
	WriteResult,
} from "../../storage/mysql/driver/mysql2Connection.ts";
import type { Sql } from "../../storage/mysql/driver/mysqlConnection.ts";
import { StorageFailure } from "../../storage/storageFailure.ts";
import type {
	Ack,
	Acked,
	AckedAndClaimed,
	AcksAndClaim,
	ClaimRange,
} from "../jobStore.ts";
import { answerTo, claimedOf, type JobRow } from "../jobTransitions.ts";
import { type Allowance, allow, type RateBucket, take } from "../rateLimit.ts";
import { type PreparedAcks, prepareAcks } from "./acks.ts";
import { type QueueCall, transact } from "./queueCall.ts";
import { byClaim, rowOf } from "./rows.ts";
import {
	beginJobs,
	claimable,
	claimedBy,
	countJobs,
	deleteKeys,
	freeKeys,
	jobsById,
	lockQueue,
	type QueueTables,
	succeedJobs,
	writeRate,
} from "./statements.ts";

/**
 * Acks and claims in one transaction: the acks are written and jobs to claim are
 * locked in one round trip; they are begun, with COMMIT, in a second. Acks
 * that need the job's row first take one more.
 *
 * There are no deadlocks, because everything that may wait for a lock comes
 * before the locks of the claim, and those, which others may wait for, are taken
 * without waiting. (MariaDB locks the entry behind the last one it
 * looked at too, which is a job that runs.) What comes before is locked in one
 * order: the queue, jobs by bucket and id, keys.
 */
export async function ackAndClaim(
	call: QueueCall,
	turn: AcksAndClaim,
): Promise<AckedAndClaimed> {
	const { acks = [], claim } = turn;
	if (acks.length === 0 && claim === undefined) {
		return { acked: [], claimed: [] };
	}
	/** When claims of the last attempt end: finds them again. */
	let until = 0;
	try {
		// A job gets its key back under the lock of the queue, which is taken before any other.
		for (let isLocked = false; ; isLocked = true) {
			const turned = await transact(call, (statements, now) => {
				until = now + (claim?.claimMs ?? 0) * 1_000;
				const wanted = { acks, claim, isLocked, now, until };
				return ackAndClaimOnce(statements, call.tables, wanted);
			});
			if (turned !== null) return turned;
		}
	} catch (thrown) {
		const isUnknown =
			thrown instanceof StorageFailure && thrown.kind === "unknownOutcome";
		if (!isUnknown) throw thrown;
		return await resolveUnknownCommit(call.again(), turn, until);
	}
}

interface Wanted {
	readonly acks: readonly Ack[];
	readonly claim: ClaimRange | undefined;
	/** Whether to lock the queue, whatever its limits are. */
	readonly isLocked: boolean;
	readonly now: number;
	/** When claims end. */
	readonly until: number;
}

/** Null, to be rolled back, where it needs the lock of the queue and has not got it. */
async function ackAndClaimOnce(
	statements: MysqlTransaction,
	tables: QueueTables,
	{ acks, claim, isLocked, now, until }: Wanted,
): Promise<CommitDecision<AckedAndClaimed | null>> {
	const isLimited = claim?.limits != null;
	const lock =
		isLimited || isLocked ? await statements.rows(lockQueue(tables)) : [];
	const allowance = isLimited
		? await allowed(statements, tables, claim, lock, now)
		: null;
	const prepared = acks.every(isPlainSuccess)
		? successes(tables, acks, now)
		: await prepareAcks(statements, tables, acks, now);
	if (prepared.needsQueue && !isLimited && !isLocked) {
		return { value: null, commit: false };
	}
	const range =
		claim === undefined || allowance?.jobs === 0
			? null
			: { ...claim, limit: allowance?.jobs ?? claim.limit };
	const results = await statements.together([
		...prepared.writes,
		...(range === null ? [] : [claimable(tables, range, now)]),
	]);
	const acked = await prepared.complete(statements, results);
	const found = range === null ? [] : (results.at(-1) as readonly Row[]);
	const taken = await withFreeKeys(statements, tables, found);
	const heads = taken.map(({ head }) => head);

	const last: Sql[] = [];
	if (claim !== undefined && heads.length > 0) {
		last.push(...deleteKeys(tables, heads));
		last.push(beginJobs(tables, claim, heads, until));
	}
	if (allowance !== null) {
		last.push(writeRate(tables, take(allowance.bucket, heads.length)));
	}
	const turned: AckedAndClaimed = {
		acked,
		claimed: taken.map(({ head, body }) =>
			claimedOf(head, body, claim as ClaimRange, until),
		),
		...(allowance !== null && { waitMs: allowance.waitMs }),
	};
	if (prepared.writes.length + last.length === 0) {
		return { value: turned, commit: false };
	}
	return { last, valueOf: () => turned, commit: true };
}

function isPlainSuccess({ kind, body, status, allowed }: Ack): boolean {
	return (
		kind === "succeed" &&
		body === undefined &&
		status === undefined &&
		allowed === undefined
	);
}

/** One statement for each bucket and token. Only those that changed fewer jobs than they name are looked at. */
function successes(
	tables: QueueTables,
	acks: readonly Ack[],
	now: number,
): PreparedAcks {
	const groups = byClaim(acks);
	return {
		needsQueue: false,
		writes: groups.map((some) => succeedJobs(tables, some, now)),
		async complete(statements, results) {
			const doubtful = groups.flatMap((some, index) => {
				const { affectedRows } = results[index] as WriteResult;
				return affectedRows === some.length ? [] : some;
			});
			if (doubtful.length === 0) return acks.map(() => "done");
			const rows = await statements.rows(jobsById(tables, doubtful));
			const jobs = new Map(rows.map(rowOf).map((job) => [job.local, job]));
			const asked = new Set(doubtful.map(({ local }) => local));
			return acks.map((ack): Acked => {
				if (!asked.has(ack.local)) return "done";
				// If it runs with this token, it has been stored again since (./swappedOut.ts).
				return answerTo(jobs.get(ack.local) ?? null, ack) ?? "absent";
			});
		},
	};
}

interface Found {
	readonly head: JobRow;
	readonly body: string;
}

/** Jobs without those whose key somebody has locked, who is merging another job into it: they are left for the next claim. */
async function withFreeKeys(
	statements: MysqlTransaction,
	tables: QueueTables,
	rows: readonly Row[],
): Promise<readonly Found[]> {
	const found = rows.map(
		(row): Found => ({ head: rowOf(row), body: String(row[10]) }),
	);
	const keys = found.flatMap(({ head }) => head.key ?? []);
	if (keys.length === 0) return found;
	const free = new Set(
		(await statements.rows(freeKeys(tables, keys))).map(([key]) => String(key)),
	);
	return found.filter(({ head: { key } }) => key === null || free.has(key));
}

/** `lock` is the queue's row. */
async function allowed(
	statements: MysqlTransaction,
	tables: QueueTables,
	{ limits, limit }: ClaimRange,
	lock: readonly Row[],
	now: number,
): Promise<Allowance | null> {
	if (limits == null) return null;
	const [[tokens, filledAt] = [0, 0]] = lock;
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

/** After a COMMIT without an answer: acks are repeated, and claims are looked up. When the claimed jobs were due is no longer known. */
async function resolveUnknownCommit(
	call: QueueCall,
	{ acks = [], claim }: AcksAndClaim,
	until: number,
): Promise<AckedAndClaimed> {
	const { tables } = call;
	const { acked } = await ackAndClaim(call, { acks });
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
