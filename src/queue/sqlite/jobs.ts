import type { SqliteConnection } from "../../storage/sqlite/driver/sqliteConnection.ts";
import { bucketOf, isOpen } from "../bucket.ts";
import type { LocalId } from "../jobId.ts";
import {
	type Ack,
	type Acked,
	type AckedAndClaimed,
	type AcksAndClaim,
	type ClaimedJob,
	type ClaimRange,
	type CountedJobs,
	type Enqueued,
	type Expired,
	type ExpireOptions,
	type Held,
	type Job,
	type JobChange,
	type JobKey,
	type JobScan,
	type JobState,
	type NewJob,
	type ScannedJobs,
	STATE,
} from "../jobStore.ts";
import {
	afterAck,
	afterChange,
	afterExpiry,
	answerTo,
	claimedOf,
	type JobRow,
	type JobTransition,
	withStatus,
} from "../jobTransitions.ts";
import { allow, type RateBucket, take } from "../rateLimit.ts";
import type { JobVerbs } from "../storedJobs.ts";
import { type QueueStatements, READ_RATE, WRITE_RATE } from "./statements.ts";

/** A call on the jobs of one queue, in the file of its shard. */
export interface FileCall {
	readonly connection: SqliteConnection;
	readonly statements: QueueStatements;
	readonly queue: string;
	/** Microseconds since 1970. */
	readonly now: number;
}

/** A row as SQLite returns it. */
type FullRow = JobRow & Pick<Job, "status" | "body">;

const STATES = Object.keys(STATE) as readonly JobState[];
const END_OF_TIME = Number.MAX_SAFE_INTEGER;

function enqueueJobs(
	call: FileCall,
	jobs: readonly NewJob[],
): readonly Enqueued[] {
	const { connection, statements, now } = call;
	return jobs.map((job) => {
		const { local, bucket, priority, due, allowed, createdAt, key, body } = job;
		const at = Math.max(due, now);
		const { changes } = connection.run(statements.insert, [
			local,
			isOpen(bucket, now) ? bucket : bucketOf(due, now),
			priority,
			at,
			allowed,
			createdAt,
			key,
			body,
		]);
		if (changes > 0) return "added";
		if (read(call, local) !== null) return "there";
		const [holder] = connection.rows<{ local: LocalId }>(statements.keyHolder, [
			key,
		]);
		return { mergedInto: (holder as { local: LocalId }).local };
	});
}

function ackAndClaim(
	call: FileCall,
	{ acks = [], claim }: AcksAndClaim,
): AckedAndClaimed {
	const acked = sayAll(call, acks);
	return claim === undefined
		? { acked, claimed: [] }
		: { acked, ...claimWithinLimits(call, claim) };
}

/** Does what workers say of jobs. */
function sayAll(call: FileCall, acks: readonly Ack[]): readonly Acked[] {
	const { connection, statements, now } = call;
	return acks.map((ack) => {
		const { local, claim, kind, body, status, allowed } = ack;
		const isPlain =
			body === undefined && status === undefined && allowed === undefined;
		if (kind === "succeed" && isPlain) {
			const done = connection.run(statements.succeed, [local, claim, now]);
			if (done.changes > 0) return "done";
		}
		const row = read(call, local);
		const answer = answerTo(row, ack);
		if (answer !== null) return answer;
		write(call, row as FullRow, afterAck(row as FullRow, ack, now), ack);
		return "done";
	});
}

/** Claims what the shard's limits allow, if the range names any. */
function claimWithinLimits(
	call: FileCall,
	range: ClaimRange,
): Omit<AckedAndClaimed, "acked"> {
	const { connection, queue, now } = call;
	const { limits = null, limit: wanted } = range;
	if (limits === null) {
		return { claimed: claimJobs(call, range) };
	}
	const [before] = connection.rows<RateBucket>(READ_RATE, [queue]);
	const running =
		limits.maxRunning === null
			? 0
			: countJobs(call, { state: "running" }, MAX_COUNTED);
	const allowed = allow(limits, before ?? EMPTY_RATE, { wanted, running, now });
	const claimed =
		allowed.jobs === 0
			? []
			: claimJobs(call, { ...range, limit: allowed.jobs });
	const { tokens, filledAt } = take(allowed.bucket, claimed.length);
	connection.run(WRITE_RATE, [tokens, filledAt, queue]);
	return { claimed, waitMs: allowed.waitMs };
}

/** No limit is higher. */
const MAX_COUNTED = 1_000_000;
const EMPTY_RATE: RateBucket = { tokens: 0, filledAt: 0 };

function claimJobs(
	{ connection, statements, now }: FileCall,
	{ priority, floor, limit, claim, claimMs }: ClaimRange,
): readonly ClaimedJob[] {
	const rows = connection.rows<FullRow & { readonly body: string }>(
		statements.claim,
		[priority, floor, now, limit],
	);
	const until = now + claimMs * 1_000;
	if (rows.length > 0) {
		const ids = JSON.stringify(rows.map(({ local }) => local));
		connection.run(statements.begin, [claim, until, ids]);
	}
	return rows.map((row) => claimedOf(row, row.body, { claim }, until));
}

function renewClaims(
	{ connection, statements: { renew }, now }: FileCall,
	claims: readonly Held[],
	claimMs: number,
): readonly Held[] {
	const until = now + claimMs * 1_000;
	return claims.filter(
		({ local, claim }) =>
			connection.run(renew, [local, claim, until]).changes > 0,
	);
}

function expireClaims(
	call: FileCall,
	{ limit, delayMs }: ExpireOptions,
): Expired {
	const { connection, statements, now } = call;
	const rows = connection.rows<FullRow>(statements.expired, [now, limit]);
	let again = 0;
	for (const row of rows) {
		const step = afterExpiry(row, delayMs(row.attempts), now);
		write(call, row, step, {});
		if (step.state === STATE.pending) again += 1;
	}
	return { again, failed: rows.length - again };
}

function changeJobs(
	call: FileCall,
	jobs: readonly JobKey[],
	to: JobChange,
): number {
	const { connection, statements, now } = call;
	let changed = 0;
	for (const { local } of jobs) {
		if (to.kind === "remove") {
			changed += connection.run(statements.remove, [local]).changes;
			continue;
		}
		const row = read(call, local);
		const step = row && afterChange(row, to, now);
		if (step === null) continue;
		write(call, row as FullRow, step, {});
		changed += 1;
	}
	return changed;
}

function findJobs(
	{ connection, statements: { byId } }: FileCall,
	jobs: readonly JobKey[],
	body: boolean,
): readonly (Job | null)[] {
	return jobs.map(({ local }) => {
		const [row] = connection.rows<FullRow>(byId, [local, body ? 1 : 0]);
		return row === undefined ? null : jobOf(row);
	});
}

function scanJobs(
	{ connection, statements }: FileCall,
	scan: JobScan,
): ScannedJobs {
	const { state, priority, from = 0, until = END_OF_TIME, after } = scan;
	const { matching, limit, body = false } = scan;
	const withBodies = body || matching !== undefined;
	const isAfter = after !== undefined && after.at >= from;
	const rows = connection.rows<FullRow>(
		withBodies ? statements.scanBodies : statements.scan,
		[
			STATE[state],
			priority,
			isAfter ? after.at : from,
			until,
			isAfter ? after.local : "",
			limit,
		],
	);
	const last = rows.at(-1);
	return {
		jobs: rows
			.filter((row) => matching === undefined || row.body?.includes(matching))
			.map((row) => jobOf(body ? row : { ...row, body: null })),
		next:
			rows.length < limit || last === undefined
				? null
				: { at: last.at, local: last.local },
	};
}

function countJobs(
	{ connection, statements: { count } }: FileCall,
	{ state, priority, from = 0, until = END_OF_TIME }: CountedJobs,
	cap: number,
): number {
	const [row] = connection.rows<{ jobs: number }>(count, [
		STATE[state],
		priority ?? 1,
		priority ?? 3,
		from,
		until,
		cap,
	]);
	return row?.jobs ?? 0;
}

function read(
	{ connection, statements: { byId } }: FileCall,
	local: LocalId,
): FullRow | null {
	const [row] = connection.rows<FullRow>(byId, [local, 0]);
	return row ?? null;
}

function write(
	call: FileCall,
	row: FullRow,
	step: JobTransition,
	{ status, body }: { readonly status?: string; readonly body?: string },
): void {
	const { connection, statements } = call;
	connection.run(statements.step, [
		row.local,
		step.state,
		step.bucket,
		step.at,
		step.claim,
		step.attempts,
		step.allowed,
		keyAfter(call, row, step),
		withStatus(row.status, status),
		body ?? null,
	]);
}

/** A job that becomes pending again while another pending one has its key runs without it. */
function keyAfter(
	{ connection, statements: { keyHolder } }: FileCall,
	{ key, local }: FullRow,
	{ state }: JobTransition,
): string | null {
	if (key === null || state !== STATE.pending) return key;
	const [holder] = connection.rows<{ local: LocalId }>(keyHolder, [key]);
	return holder === undefined || holder.local === local ? key : null;
}

function jobOf(row: FullRow): Job {
	return { ...row, state: STATES[row.state] as JobState };
}

export const VERBS: JobVerbs<FileCall> = {
	enqueue: enqueueJobs,
	ackAndClaim: ackAndClaim,
	renew: renewClaims,
	expire: expireClaims,
	find: findJobs,
	scan: scanJobs,
	change: changeJobs,
	count: countJobs,
};
