import {
	chunks,
	type Select,
	type Write,
} from "../../storage/statements/dialect.ts";
import {
	type CountedJobs,
	type JobKey,
	type JobScan,
	type NewJob,
	STATE,
} from "../jobStore.ts";
import type { JobRow, JobTransition } from "../jobTransitions.ts";
import {
	clauseOf,
	joined,
	part,
	type QueueTables,
	selectOf,
} from "./dialect.ts";
import { type FoundJob, foundJob, HEAD, localOf } from "./rows.ts";

/*
 * Statements on jobs, whatever becomes of them. The rules that all statements of
 * queues keep to (docs/queue-internals.md, "How it is stored"):
 *
 * - Each names its bucket, so that MySQL asks one partition; only a lookup by id
 *   whose hint was wrong asks all.
 * - The index is named: on an empty table the optimizer takes any, and what it takes
 *   for ORDER BY decides which rows are locked. With a filesort it is all of them,
 *   and SKIP LOCKED then hands out nothing. On SQLite it would sort all pending jobs.
 * - ORDER BY names columns by their table: an alias of the same name would hide
 *   the column, and bring the filesort back unseen.
 */

/** Jobs that are there already change nothing and are not counted. Not INSERT IGNORE, which also takes values that do not fit. */
export function insertJobs(
	{ dialect, jobs: table }: QueueTables,
	jobs: readonly NewJob[],
	now: number,
): readonly Write[] {
	const clause = clauseOf(dialect);
	const columns = part(HEAD.join(", "));
	const orKeep = part(dialect.orKeep(["local_id"], "claim"));
	const sorted = jobs.toSorted((a, b) => (a.local < b.local ? -1 : 1));
	const rowOf = (job: NewJob) => {
		const { local, bucket, priority, due, allowed, createdAt, key, body } = job;
		return clause`(${dialect.id(local)}, ${bucket}, 0, ${priority}, ${Math.max(due, now)}, 0, 0, ${allowed}, ${createdAt}, ${key}, '', ${body})`;
	};
	return chunks(sorted, dialect.maxRows).map((some) => ({
		name: "enqueue",
		...clause`INSERT INTO ${table} (${columns}, status, body)
			VALUES ${joined(some.map(rowOf))} ${orKeep}`,
	}));
}

/**
 * Writes what becomes of a job that this transaction has locked. A job with a
 * key that becomes pending needs its key, which `insertKeys` has tried to take: it
 * continues without it if a newer job has it.
 */
export function writeTransition(
	{ dialect, jobsById, keys }: QueueTables,
	row: JobRow,
	next: JobTransition,
	{ status, body }: { readonly status?: string; readonly body?: string },
): Write {
	const clause = clauseOf(dialect);
	const sets = [
		clause`state = ${next.state}`,
		clause`at = ${next.at}`,
		clause`claim = ${next.claim}`,
		clause`attempts = ${next.attempts}`,
		clause`allowed = ${next.allowed}`,
	];
	if (next.bucket !== row.bucket) sets.push(clause`bucket = ${next.bucket}`);
	if (status !== undefined) sets.push(clause`status = ${status}`);
	if (body !== undefined) sets.push(clause`body = ${body}`);
	if (row.key !== null && next.state === STATE.pending) {
		sets.push(clause`unique_key = CASE
			WHEN (SELECT holder.local_id FROM ${keys} AS holder
				WHERE holder.unique_key = ${row.key}) = ${dialect.id(row.local)}
			THEN ${row.key} END`);
	}
	return {
		name: "change job",
		...clause`UPDATE ${jobsById} SET ${joined(sets)}
			WHERE ${dialect.isInBucket(row.bucket)} AND ${dialect.hasId([row.local])}`,
	};
}

export function removeJob(
	{ dialect, jobs }: QueueTables,
	{ bucket, local }: JobRow,
): Write {
	return {
		name: "remove job",
		...clauseOf(dialect)`DELETE FROM ${jobs}
			WHERE ${dialect.isInBucket(bucket)} AND ${dialect.hasId([local])}`,
	};
}

/** Jobs of one bucket, or of any. */
export function findJobs(
	{ dialect, jobsById }: QueueTables,
	keys: readonly JobKey[],
	{
		bucket,
		body = false,
		locked = false,
	}: {
		readonly bucket?: number;
		readonly body?: boolean;
		/** `free`: only those that nobody else has locked. */
		readonly locked?: boolean | "free";
	} = {},
): Select<FoundJob> {
	const { isInBucket, skipLocked, forUpdate } = dialect;
	const lock = locked === "free" ? skipLocked : forUpdate;
	return selectOf(
		"jobs",
		[...HEAD, "status", body ? "body" : "NULL"],
		clauseOf(dialect)`FROM ${jobsById}
			WHERE ${bucket === undefined ? part("TRUE") : isInBucket(bucket)}
				AND ${dialect.hasId(keys.map(({ local }) => local))}
			${part(locked === false ? "" : lock)}`,
		(rows) => rows.map(foundJob),
	);
}

/** The ids of those that are there, once for each row of a job in any partition. */
export function findIds(
	{ dialect, jobsById }: QueueTables,
	keys: readonly JobKey[],
): Select<JobRow["local"]> {
	return selectOf(
		"ids of jobs",
		["local_id"],
		clauseOf(dialect)`FROM ${jobsById}
			WHERE ${dialect.hasId(keys.map(({ local }) => local))}`,
		(rows) => rows.map(([local]) => localOf(local)),
	);
}

/** Jobs in order, and whether the body of each matches. */
export function scanJobs(
	{ dialect, jobsInOrder }: QueueTables,
	scan: JobScan,
): Select<FoundJob & { readonly isMatching: boolean }> {
	const { state, priority, from = 0, until, after } = scan;
	const { matching, limit, body = false } = scan;
	const clause = clauseOf(dialect);
	const isAfter = after !== undefined && after.at >= from;
	const matches =
		matching === undefined
			? part("TRUE")
			: clause`INSTR(body, ${matching}) > 0`;
	const conditions = [
		clause`state = ${STATE[state]} AND priority = ${priority}`,
		clause`at >= ${isAfter ? after.at : from}`,
	];
	if (until !== undefined) conditions.push(clause`at < ${until}`);
	if (isAfter) {
		conditions.push(
			clause`(at > ${after.at} OR local_id > ${dialect.id(after.local)})`,
		);
	}
	return selectOf(
		"scan jobs",
		[
			...HEAD,
			"status",
			body ? clause`CASE WHEN ${matches} THEN body END` : "NULL",
			matches,
		],
		clause`FROM ${jobsInOrder} WHERE ${joined(conditions, " AND ")}
			ORDER BY job.at, job.local_id LIMIT ${limit}`,
		(rows) =>
			rows.map((row) => ({
				...foundJob(row),
				isMatching: Number(row.at(-1)) === 1,
			})),
	);
}

/** Counts no further than the cap. */
export function countJobs(
	{ dialect, jobsInOrder }: QueueTables,
	{ state, priority, from, until }: CountedJobs,
	cap: number,
): Select<number> {
	const clause = clauseOf(dialect);
	const conditions = [
		clause`state = ${STATE[state]}`,
		priority === undefined
			? part("priority IN (1, 2, 3)")
			: clause`priority = ${priority}`,
	];
	if (from !== undefined) conditions.push(clause`at >= ${from}`);
	if (until !== undefined) conditions.push(clause`at < ${until}`);
	return selectOf(
		"count jobs",
		["COUNT(*)"],
		clause`FROM (SELECT 1 FROM ${jobsInOrder}
			WHERE ${joined(conditions, " AND ")} LIMIT ${cap}) AS some`,
		(rows) => rows.map(([count]) => Number(count)),
	);
}
