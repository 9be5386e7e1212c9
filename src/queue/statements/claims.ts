import type { Select, Write } from "../../storage/statements/dialect.ts";
import {
	type Ack,
	type ClaimRange,
	type Due,
	type DueRange,
	type ExpiryRange,
	type Held,
	type JobKey,
	STATE,
} from "../jobStore.ts";
import type { JobRow } from "../jobTransitions.ts";
import {
	clauseOf,
	part,
	type QueueDialect,
	type QueueTables,
	selectOf,
} from "./dialect.ts";
import { type FoundJob, foundJob, HEAD, localOf, rowOf } from "./rows.ts";

/* Statements on claims: jobs that are due, and jobs that run. Those of ./jobs.ts have the rules. */

/** The pending job that is due first; none without one. */
export function firstDue(
	{ dialect, jobsInOrder }: QueueTables,
	{ buckets, priority, floor }: DueRange,
): Select<Due> {
	return selectOf(
		"due",
		["bucket", "at"],
		clauseOf(dialect)`FROM ${jobsInOrder}
			WHERE ${dialect.isInBucket(...buckets)} AND state = 0
				AND priority = ${priority} AND at >= ${floor}
			ORDER BY job.at, job.local_id LIMIT 1`,
		(rows) =>
			rows.map(([bucket, at]) => ({ bucket: Number(bucket), at: Number(at) })),
	);
}

export function claimableJobs(
	{ dialect, jobsInOrder }: QueueTables,
	{ bucket, priority, floor, limit }: ClaimRange,
	now: number,
): Select<FoundJob> {
	return selectOf(
		"claim",
		[...HEAD, "NULL", "body"],
		clauseOf(dialect)`FROM ${jobsInOrder}
			WHERE ${dialect.isInBucket(bucket)} AND state = 0
				AND priority = ${priority} AND at >= ${floor} AND at <= ${now}
			ORDER BY job.at, job.local_id LIMIT ${limit} ${part(dialect.skipLocked)}`,
		(rows) => rows.map(foundJob),
	);
}

export function beginJobs(
	{ dialect, jobsById }: QueueTables,
	{ bucket, claim }: ClaimRange,
	jobs: readonly JobKey[],
	until: number,
): Write {
	return {
		name: "begin jobs",
		...clauseOf(dialect)`UPDATE ${jobsById}
			SET state = 1, claim = ${claim}, at = ${until}, attempts = attempts + 1
			WHERE ${dialect.isInBucket(bucket)}
				AND ${dialect.hasId(jobs.map(({ local }) => local))}`,
	};
}

/** What a call has claimed whose COMMIT had no answer. It waits for a COMMIT that is still under way. */
export function claimedBy(
	{ dialect, jobsInOrder }: QueueTables,
	{ bucket, priority, claim }: ClaimRange,
	until: number,
): Select<FoundJob> {
	return selectOf(
		"look up claim",
		[...HEAD, "NULL", "body"],
		clauseOf(dialect)`FROM ${jobsInOrder}
			WHERE ${dialect.isInBucket(bucket)} AND state = 1
				AND priority = ${priority} AND at = ${until} AND claim = ${claim}
			ORDER BY job.at, job.local_id ${part(dialect.forUpdate)}`,
		(rows) => rows.map(foundJob),
	);
}

/** Acknowledges jobs of one bucket and token. */
export function succeedJobs(
	{ dialect, jobsById }: QueueTables,
	acks: readonly Ack[],
	now: number,
): Write {
	return {
		name: "succeed",
		...clauseOf(dialect)`UPDATE ${jobsById} SET state = 2, at = ${now}
			WHERE ${areHeld(dialect, acks)}`,
	};
}

/** Renews claims of one bucket and token. */
export function renewClaims(
	{ dialect, jobsById }: QueueTables,
	claims: readonly Held[],
	until: number,
): Write {
	return {
		name: "renew",
		...clauseOf(dialect)`UPDATE ${jobsById} SET at = ${until}
			WHERE ${areHeld(dialect, claims)}`,
	};
}

/** The ids of those, of one bucket and token, that are still held. */
export function heldClaims(
	{ dialect, jobsById }: QueueTables,
	claims: readonly Held[],
): Select<JobRow["local"]> {
	return selectOf(
		"held claims",
		["local_id"],
		clauseOf(dialect)`FROM ${jobsById} WHERE ${areHeld(dialect, claims)}`,
		(rows) => rows.map(([local]) => localOf(local)),
	);
}

function areHeld(dialect: QueueDialect, claims: readonly Held[]) {
	const { bucket, claim } = claims[0] as Held;
	return clauseOf(dialect)`${dialect.isInBucket(bucket)}
		AND ${dialect.hasId(claims.map(({ local }) => local))}
		AND state = ${STATE.running} AND claim = ${claim}`;
}

/** Running jobs whose claims are over. With `isLocked`, those that another locks are left out. */
export function expiredClaims(
	{ dialect, jobsInOrder }: QueueTables,
	{ buckets }: Pick<ExpiryRange, "buckets">,
	now: number,
	{
		limit,
		isLocked = false,
	}: { readonly limit: number; readonly isLocked?: boolean },
): Select<JobRow> {
	return selectOf(
		"expired claims",
		HEAD,
		clauseOf(dialect)`FROM ${jobsInOrder}
			WHERE ${buckets === undefined ? part("TRUE") : dialect.isInBucket(...buckets)}
				AND state = 1 AND priority IN (1, 2, 3) AND at < ${now}
			LIMIT ${limit} ${part(isLocked ? dialect.skipLocked : "")}`,
		(rows) => rows.map(rowOf),
	);
}
