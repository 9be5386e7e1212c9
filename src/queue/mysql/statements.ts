import type { Sql } from "../../storage/mysql/driver/mysqlConnection.ts";
import {
	type Ack,
	type ClaimRange,
	type CountedJobs,
	type Held,
	type JobKey,
	type JobScan,
	type NewJob,
	STATE,
} from "../jobStore.ts";
import type { JobRow, JobTransition } from "../jobTransitions.ts";
import { jobsTable, keysTable, queuesTable } from "./ddl.ts";
import { HEAD, literal, literals } from "./rows.ts";

/*
 * The statements on jobs. The rules they keep to (docs/queue-internals.md, "How it is stored"):
 *
 * - Each names its bucket, as a literal, so that MySQL asks one partition; only a
 *   lookup by id whose hint was wrong asks all.
 * - FORCE INDEX: on an empty table the optimizer takes any, and what it takes for
 *   ORDER BY decides which rows are locked. With a filesort it is all of them, and
 *   SKIP LOCKED then hands out nothing.
 * - ORDER BY names columns by their table: an alias of the same name would hide
 *   the column, and bring the filesort back unseen.
 * - Ids, numbers and moments are literals, checked by the port; texts are parameters.
 */

/** The tables of one queue on one shard. */
export interface QueueTables {
	readonly jobs: string;
	readonly keys: string;
	readonly queues: string;
	readonly queue: string;
}

export function tablesOf(database: string, queue: string): QueueTables {
	return {
		jobs: jobsTable(database, queue),
		keys: keysTable(database, queue),
		queues: queuesTable(database),
		queue,
	};
}

/** Jobs that are there already change nothing and are not counted. Not INSERT IGNORE, which also takes values that do not fit. */
export function insertJobs(
	{ jobs: table }: QueueTables,
	jobs: readonly NewJob[],
	now: number,
): Sql {
	const sorted = jobs.toSorted((a, b) => (a.local < b.local ? -1 : 1));
	const rows = sorted.map(
		({ local, bucket, priority, due, allowed, createdAt, key }) =>
			`(${literal(local)}, ${bucket}, 0, ${priority}, ${Math.max(due, now)}, 0, 0, ${allowed}, ${createdAt}, ${key === null ? "NULL" : "?"}, '', ?)`,
	);
	return {
		name: "enqueue",
		text: `INSERT INTO ${table} (${HEAD}, status, body) VALUES ${rows.join(", ")}
			ON DUPLICATE KEY UPDATE claim = claim`,
		values: sorted.flatMap(({ key, body }) =>
			key === null ? [body] : [key, body],
		),
	};
}

/**
 * Keys that are held already stay with their job, and are locked. Who inserts
 * keys has the lock of the queue: two who waited for one deleted key would both get
 * the gap that it leaves, and neither could insert (a deadlock, also with READ COMMITTED).
 */
export function insertKeys(
	{ keys: table }: QueueTables,
	jobs: readonly { readonly local: NewJob["local"]; readonly key: string }[],
): Sql {
	const sorted = jobs.toSorted((a, b) => (a.key < b.key ? -1 : 1));
	return {
		name: "enqueue keys",
		text: `INSERT INTO ${table} (unique_key, local_id)
			VALUES ${sorted.map(({ local }) => `(?, ${literal(local)})`).join(", ")}
			ON DUPLICATE KEY UPDATE unique_key = unique_key`,
		values: sorted.map(({ key }) => key),
	};
}

/** Rows: key, local id. */
export function readKeys(
	{ keys: table }: QueueTables,
	keys: readonly string[],
): Sql {
	return {
		name: "keys",
		text: `SELECT unique_key, local_id FROM ${table} WHERE unique_key IN (?)`,
		values: [keys],
	};
}

/** Rows: keys that nobody else has locked, which this locks. */
export function freeKeys(
	{ keys: table }: QueueTables,
	keys: readonly string[],
): Sql {
	return {
		name: "free keys",
		text: `SELECT unique_key FROM ${table}
			WHERE unique_key IN (?) FOR UPDATE SKIP LOCKED`,
		values: [keys],
	};
}

export function deleteKeys(
	{ keys: table }: QueueTables,
	rows: readonly JobRow[],
): readonly Sql[] {
	const held = rows.filter(({ key }) => key !== null);
	if (held.length === 0) return [];
	return [
		{
			name: "delete keys",
			text: `DELETE FROM ${table}
				WHERE unique_key IN (?) AND local_id IN (${literals(held)})`,
			values: [held.map(({ key }) => key as string).toSorted()],
		},
	];
}

/** Rows of HEAD and body. */
export function claimable(
	{ jobs: table }: QueueTables,
	{ bucket, priority, floor, limit }: ClaimRange,
	now: number,
): Sql {
	return {
		name: "claim",
		text: `SELECT ${HEAD}, body FROM ${table} AS job FORCE INDEX (queue)
			WHERE bucket = ${bucket} AND state = 0 AND priority = ${priority}
				AND at >= ${floor} AND at <= ${now}
			ORDER BY job.at, job.local_id LIMIT ${limit} FOR UPDATE SKIP LOCKED`,
		values: [],
	};
}

export function beginJobs(
	{ jobs: table }: QueueTables,
	{ bucket, claim }: ClaimRange,
	rows: readonly JobRow[],
	until: number,
): Sql {
	return {
		name: "begin jobs",
		text: `UPDATE ${table} FORCE INDEX (PRIMARY)
			SET state = 1, claim = ${claim}, at = ${until}, attempts = attempts + 1
			WHERE bucket = ${bucket} AND local_id IN (${literals(rows)})`,
		values: [],
	};
}

/** What a call has claimed whose COMMIT had no answer. It waits for a COMMIT that is still under way. */
export function claimedBy(
	{ jobs: table }: QueueTables,
	{ bucket, priority, claim }: ClaimRange,
	until: number,
): Sql {
	return {
		name: "look up claim",
		text: `SELECT ${HEAD}, body FROM ${table} AS job FORCE INDEX (queue)
			WHERE bucket = ${bucket} AND state = 1 AND priority = ${priority}
				AND at = ${until} AND claim = ${claim}
			ORDER BY job.at, job.local_id FOR UPDATE`,
		values: [],
	};
}

/** Acknowledges jobs of one bucket and token. */
export function succeedJobs(
	{ jobs: table }: QueueTables,
	acks: readonly Ack[],
	now: number,
): Sql {
	return {
		name: "succeed",
		text: `UPDATE ${table} FORCE INDEX (PRIMARY) SET state = 2, at = ${now}
			WHERE ${heldIn(acks)}`,
		values: [],
	};
}

/** Renews claims of one bucket and token. */
export function renewClaims(
	{ jobs: table }: QueueTables,
	claims: readonly Held[],
	until: number,
): Sql {
	return {
		name: "renew",
		text: `UPDATE ${table} FORCE INDEX (PRIMARY) SET at = ${until}
			WHERE ${heldIn(claims)}`,
		values: [],
	};
}

/** Rows: local id. Of one bucket and token. */
export function stillHeld(
	{ jobs: table }: QueueTables,
	claims: readonly Held[],
): Sql {
	return {
		name: "held claims",
		text: `SELECT local_id FROM ${table} FORCE INDEX (PRIMARY)
			WHERE ${heldIn(claims)}`,
		values: [],
	};
}

function heldIn(claims: readonly Held[]): string {
	const { bucket, claim } = claims[0] as Held;
	return `bucket = ${bucket} AND local_id IN (${literals(claims)})
		AND state = ${STATE.running} AND claim = ${claim}`;
}

/**
 * Writes what becomes of a job that this transaction has locked. A job with a
 * key that becomes pending needs its key, which `insertKeys` has tried to take: it
 * goes on without it where a newer job has it.
 */
export function writeStep(
	{ jobs: table, keys }: QueueTables,
	row: JobRow,
	step: JobTransition,
	{ status, body }: { readonly status?: string; readonly body?: string },
): Sql {
	const sets = [
		`state = ${step.state}`,
		`at = ${step.at}`,
		`claim = ${step.claim}`,
		`attempts = ${step.attempts}`,
		`allowed = ${step.allowed}`,
	];
	const values: string[] = [];
	if (step.bucket !== row.bucket) sets.push(`bucket = ${step.bucket}`);
	if (status !== undefined) {
		sets.push("status = ?");
		values.push(status);
	}
	if (body !== undefined) {
		sets.push("body = ?");
		values.push(body);
	}
	if (row.key !== null && step.state === STATE.pending) {
		sets.push(`unique_key = IF((SELECT holder.local_id FROM ${keys} AS holder
			WHERE holder.unique_key = ?) = ${literal(row.local)}, ?, NULL)`);
		values.push(row.key, row.key);
	}
	return {
		name: "step of a job",
		text: `UPDATE ${table} FORCE INDEX (PRIMARY) SET ${sets.join(", ")}
			WHERE bucket = ${row.bucket} AND local_id = ${literal(row.local)}`,
		values,
	};
}

/** Rows of HEAD. Those that another locks are passed over. */
export function expiredClaims(
	{ jobs: table }: QueueTables,
	bucket: number | undefined,
	now: number,
	limit: number,
	locked: boolean,
): Sql {
	return {
		name: "expired claims",
		text: `SELECT ${HEAD} FROM ${table} FORCE INDEX (queue)
			WHERE ${bucket === undefined ? "" : `bucket = ${bucket} AND`} state = 1
				AND priority IN (1, 2, 3) AND at < ${now}
			LIMIT ${limit}${locked ? " FOR UPDATE SKIP LOCKED" : ""}`,
		values: [],
	};
}

/** Rows of HEAD, status and body (null unless asked for): of one bucket, or of any. */
export function jobsById(
	{ jobs: table }: QueueTables,
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
): Sql {
	return {
		name: "jobs",
		text: `SELECT ${HEAD}, status, ${body ? "body" : "NULL"}
			FROM ${table} FORCE INDEX (PRIMARY)
			WHERE ${bucket === undefined ? "" : `bucket = ${bucket} AND `}local_id IN (${literals(keys)})${locked ? ` FOR UPDATE${locked === "free" ? " SKIP LOCKED" : ""}` : ""}`,
		values: [],
	};
}

/** Rows: local id, once for each row of a job in any partition. */
export function rowsById(
	{ jobs: table }: QueueTables,
	keys: readonly JobKey[],
): Sql {
	return {
		name: "ids of jobs",
		text: `SELECT local_id FROM ${table} FORCE INDEX (PRIMARY)
			WHERE local_id IN (${literals(keys)})`,
		values: [],
	};
}

export function removeJob({ jobs: table }: QueueTables, row: JobRow): Sql {
	return {
		name: "remove job",
		text: `DELETE FROM ${table} WHERE bucket = ${row.bucket} AND local_id = ${literal(row.local)}`,
		values: [],
	};
}

/** Rows of HEAD, status, body (null unless asked for), and whether the body matches. */
export function scanJobs({ jobs: table }: QueueTables, scan: JobScan): Sql {
	const { state, priority, from = 0, until, after } = scan;
	const { matching, limit, body = false } = scan;
	const isAfter = after !== undefined && after.at >= from;
	const matches = matching === undefined ? "1" : "LOCATE(?, body) > 0";
	const bodies = body
		? matching === undefined
			? "body"
			: "IF(LOCATE(?, body) > 0, body, NULL)"
		: "NULL";
	const conditions = [
		`state = ${STATE[state]} AND priority = ${priority}`,
		`at >= ${isAfter ? after.at : from}`,
		...(until === undefined ? [] : [`at < ${until}`]),
		...(isAfter
			? [`(at > ${after.at} OR local_id > ${literal(after.local)})`]
			: []),
	];
	return {
		name: "scan jobs",
		text: `SELECT ${HEAD}, status, ${bodies}, ${matches}
			FROM ${table} AS job FORCE INDEX (queue) WHERE ${conditions.join(" AND ")}
			ORDER BY job.at, job.local_id LIMIT ${limit}`,
		values:
			matching === undefined ? [] : body ? [matching, matching] : [matching],
	};
}

export function countJobs(
	{ jobs: table }: QueueTables,
	{ state, priority, from, until }: CountedJobs,
	cap: number,
): Sql {
	const conditions = [
		`state = ${STATE[state]}`,
		priority === undefined ? "priority IN (1, 2, 3)" : `priority = ${priority}`,
		...(from === undefined ? [] : [`at >= ${from}`]),
		...(until === undefined ? [] : [`at < ${until}`]),
	];
	return {
		name: "count jobs",
		text: `SELECT COUNT(*) FROM (SELECT 1 FROM ${table} FORCE INDEX (queue)
			WHERE ${conditions.join(" AND ")} LIMIT ${cap}) AS some`,
		values: [],
	};
}

/** Rows: tokens, time of their filling. */
export function lockQueue({ queues, queue }: QueueTables): Sql {
	return {
		name: "lock queue",
		text: `SELECT tokens, filled_at FROM ${queues} WHERE name = ? FOR UPDATE`,
		values: [queue],
	};
}

export function writeRate(
	{ queues, queue }: QueueTables,
	{ tokens, filledAt }: { readonly tokens: number; readonly filledAt: number },
): Sql {
	return {
		name: "set rate of queue",
		text: `UPDATE ${queues} SET tokens = ?, filled_at = ? WHERE name = ?`,
		values: [tokens, filledAt, queue],
	};
}
