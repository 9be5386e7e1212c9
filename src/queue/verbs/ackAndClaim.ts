import type { ShardLocation } from "../../storage/driver.ts";
import {
	batchedSelect,
	StatementBatch,
} from "../../storage/statements/batch.ts";
import type { Write } from "../../storage/statements/dialect.ts";
import { StorageFailure } from "../../storage/storageFailure.ts";
import type {
	Ack,
	AckedAndClaimed,
	AcksAndClaim,
	ClaimRange,
} from "../jobStore.ts";
import { claimedOf } from "../jobTransitions.ts";
import { type Allowance, allow, type RateBucket, take } from "../rateLimit.ts";
import { beginJobs, claimableJobs, claimedBy } from "../statements/claims.ts";
import type { QueueTables } from "../statements/dialect.ts";
import { countJobs } from "../statements/jobs.ts";
import { deleteKeys, freeKeys } from "../statements/keys.ts";
import { lockQueue, writeRate } from "../statements/queues.ts";
import type { FoundJob } from "../statements/rows.ts";
import { answersTo, prepareAcks, writeAcks } from "./acks.ts";
import {
	type Decision,
	type InTransaction,
	type QueueCall,
	read,
} from "./queueCall.ts";

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
	wanted: AcksAndClaim,
): Promise<AckedAndClaimed> {
	const { acks = [], claim } = wanted;
	if (acks.length === 0 && claim === undefined) {
		return { acked: [], claimed: [] };
	}
	/** When claims of the last attempt end: finds them again. */
	let until = 0;
	try {
		// A job gets its key back under the lock of the queue, which is taken before any other.
		for (let isLocked = false; ; isLocked = true) {
			const done = await call.transact((now) => {
				until = now + (claim?.claimMs ?? 0) * 1_000;
				const attempt = { acks, claim, isLocked, now, until };
				return ackAndClaimOnce(call.tables, attempt);
			});
			if (done !== null) return done;
		}
	} catch (thrown) {
		const isUnknown =
			thrown instanceof StorageFailure && thrown.kind === "unknownOutcome";
		if (!isUnknown) throw thrown;
		return await resolveUnknownCommit(call.again(), wanted, until);
	}
}

interface Attempt {
	readonly acks: readonly Ack[];
	readonly claim: ClaimRange | undefined;
	/** Whether to lock the queue, whatever its limits are. */
	readonly isLocked: boolean;
	readonly now: number;
	/** When claims end. */
	readonly until: number;
}

/** Null, to be rolled back, if it needs the lock of the queue and has not got it. */
function* ackAndClaimOnce(
	tables: QueueTables,
	{ acks, claim, isLocked, now, until }: Attempt,
): InTransaction<Decision<AckedAndClaimed | null>> {
	const isLimited = claim?.limits != null;
	const lock =
		isLimited || isLocked ? yield* read(tables, lockQueue(tables)) : [];
	const allowance = isLimited ? yield* allowed(tables, claim, lock, now) : null;
	const prepared = yield* prepareAcks(tables, acks, now);
	if (prepared.needsQueue && !isLimited && !isLocked) {
		return { value: null, last: null };
	}
	const batch = new StatementBatch<ShardLocation>();
	const doubtful: Ack[] = [];
	writeAcks(batch, tables, prepared.writes, doubtful);
	let found: readonly FoundJob[] = [];
	if (claim !== undefined && allowance?.jobs !== 0) {
		const range = { ...claim, limit: allowance?.jobs ?? claim.limit };
		const select = claimableJobs(tables, range, now);
		batch.ask(
			tables.shard,
			batchedSelect(select, (jobs) => {
				found = jobs;
			}),
		);
	}
	yield batch;
	const acked = yield* answersTo(tables, acks, prepared.answers, doubtful);
	const taken = yield* withFreeKeys(tables, found);
	const heads = taken.map(({ head }) => head);

	const last: Write[] = [];
	if (claim !== undefined && heads.length > 0) {
		last.push(...deleteKeys(tables, heads));
		last.push(beginJobs(tables, claim, heads, until));
	}
	if (allowance !== null) {
		last.push(writeRate(tables, take(allowance.bucket, heads.length)));
	}
	const value: AckedAndClaimed = {
		acked,
		claimed: taken.map(({ head, body }) =>
			claimedOf(head, body ?? "", claim as ClaimRange, until),
		),
		...(allowance !== null && { waitMs: allowance.waitMs }),
	};
	const hasWritten = prepared.writes.length + last.length > 0;
	return { value, last: hasWritten ? last : null };
}

/** Leaves jobs for the next claim whose key another transaction has locked, as it merges another job into them. */
function* withFreeKeys(
	tables: QueueTables,
	found: readonly FoundJob[],
): InTransaction<readonly FoundJob[]> {
	const keys = found.flatMap(({ head }) => head.key ?? []);
	if (keys.length === 0) return found;
	const free = new Set(yield* read(tables, freeKeys(tables, keys)));
	return found.filter(({ head: { key } }) => key === null || free.has(key));
}

/** What a queue has left whose row is gone. */
const NO_TOKENS: RateBucket = { tokens: 0, filledAt: 0 };

/** `lock` is the queue's row. */
function* allowed(
	tables: QueueTables,
	{ limits, limit }: ClaimRange,
	[bucket = NO_TOKENS]: readonly RateBucket[],
	now: number,
): InTransaction<Allowance | null> {
	if (limits == null) return null;
	const { maxRunning } = limits;
	const [running = 0] =
		maxRunning === null
			? []
			: yield* read(
					tables,
					countJobs(tables, { state: "running" }, maxRunning),
				);
	return allow(limits, bucket, { wanted: limit, running, now });
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
	const found = await call.transact(function* () {
		const value = yield* read(tables, claimedBy(tables, claim, until));
		return { value, last: null };
	});
	return {
		acked,
		claimed: found.map(({ head, body }) => {
			const before = {
				...head,
				attempts: head.attempts - 1,
				at: head.createdAt,
			};
			return claimedOf(before, body ?? "", claim, until);
		}),
	};
}
