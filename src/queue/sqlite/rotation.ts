import type {
	Sql,
	SqliteConnection,
} from "../../storage/sqlite/driver/sqliteConnection.ts";
import { hourOf } from "../bucket.ts";
import { QUEUE_CHANNELS } from "../diagnostics.ts";
import { PRIORITIES, type ShardOfQueue, STATE } from "../jobStore.ts";
import type { GivenBack, Keep, RotationStep, Span } from "../rotationStore.ts";

/*
 * Rotation on SQLite, which has no partitions: finished jobs are deleted some at
 * a time, and the file gives back as many pages after each. A step takes
 * milliseconds, in which this process does nothing else. All of a queue's
 * finished jobs that need not be kept any more are one span.
 */

/** Jobs that one step deletes, and pages that it gives back. */
const STEP_JOBS = 500;
const STEP_PAGES = 500;

/** Finished jobs that are counted. */
const MOST_COUNTED = 1_000_000;

const PAGES: Sql = {
	name: "free pages",
	text: `SELECT freelist_count AS free, page_size AS size
		FROM pragma_freelist_count(), pragma_page_size()`,
};

const FILE_BYTES: Sql = {
	name: "bytes of file",
	text: `SELECT page_count * page_size AS bytes
		FROM pragma_page_count(), pragma_page_size()`,
};

const BYTES_OF_TREES: Sql = {
	name: "bytes of queue",
	text: "SELECT SUM(pgsize) AS bytes FROM dbstat WHERE name IN (?, ?, ?)",
};

/** `rows` steps through all pages, `run` through the first. */
const GIVE_BACK: Sql = {
	name: "give back pages",
	text: `PRAGMA incremental_vacuum(${STEP_PAGES})`,
};

export function listSpans(
	connection: SqliteConnection,
	queue: string,
	keep: Keep,
): readonly Span[] {
	const { rows, bytes } = expired(connection, queue, keep);
	const free = freeBytes(connection);
	if (rows === 0 && free === 0) return [];
	return [
		{
			// The end of what is given back, whatever is kept of it.
			bucket: hourOf(keep.succeededAfter) - 1,
			isSwappedOut: false,
			bytes: bytes + free,
			rows,
			isEmpty: false,
			pending: 0,
			running: 0,
			succeeded: 0,
			failed: 0,
		},
	];
}

/** SQLite finds the bytes of a table by reading all of its pages, while this process does nothing else: not in a larger file. */
const MOST_READ_BYTES = 64 * 2 ** 20;

/** Null in a large file. */
export function bytesOfQueue(
	connection: SqliteConnection,
	queue: string,
): number | null {
	const [file] = connection.rows<{ bytes: number }>(FILE_BYTES, []);
	if (Number(file?.bytes) > MOST_READ_BYTES) return null;
	const names = [`jobs_${queue}`, `queue_${queue}`, `keys_${queue}`];
	const [found] = connection.rows<{ bytes: number | null }>(
		BYTES_OF_TREES,
		names,
	);
	return found?.bytes ?? 0;
}

/** One step. Deleting and giving back are two transactions: a process that ends between them leaves free pages, which the next step gives back. */
export function giveBack(
	connection: SqliteConnection,
	host: string,
	at: ShardOfQueue,
	keep: Keep,
): GivenBack {
	let deleted = 0;
	for (const [state, after] of endings(keep)) {
		for (const priority of PRIORITIES) {
			if (deleted >= STEP_JOBS) break;
			deleted += connection.run(remove(at.queue), [
				state,
				priority,
				after,
				STEP_JOBS - deleted,
			]).changes;
		}
	}
	report(host, at, "deleted finished jobs");
	const before = freeBytes(connection);
	if (before > 0) connection.rows(GIVE_BACK, []);
	const after = freeBytes(connection);
	report(host, at, "gave back pages");
	return {
		bytes: before - after,
		rescued: 0,
		isDone: deleted < STEP_JOBS && after === 0,
	};
}

/** Ends all claims by `now`. */
export function endClaims(
	writer: SqliteConnection,
	queue: string,
	now: number,
): void {
	writer.run(
		{
			name: "end claims",
			text: `UPDATE "jobs_${queue}" SET at = ?1 - 1
				WHERE local_id IN (
					SELECT local_id FROM "jobs_${queue}" INDEXED BY "queue_${queue}"
					WHERE state = 1 AND priority IN (1, 2, 3) AND at >= ?1)`,
		},
		[now],
	);
}

function endings({
	succeededAfter,
	failedAfter,
}: Keep): readonly (readonly [state: number, after: number])[] {
	return [
		[STATE.succeeded, Math.floor(succeededAfter)],
		[STATE.failed, Math.floor(failedAfter)],
	];
}

function remove(queue: string): Sql {
	return {
		name: "delete finished jobs",
		text: `DELETE FROM "jobs_${queue}" WHERE local_id IN (
			SELECT local_id FROM "jobs_${queue}" INDEXED BY "queue_${queue}"
			WHERE state = ? AND priority = ? AND at <= ? LIMIT ?)`,
	};
}

/** Jobs that need not be kept any more, and about how much they take. */
function expired(
	connection: SqliteConnection,
	queue: string,
	keep: Keep,
): { readonly rows: number; readonly bytes: number } {
	const from = `FROM "jobs_${queue}" INDEXED BY "queue_${queue}"
		WHERE state = ?1 AND priority = ?2 AND at <= ?3`;
	const count: Sql = {
		name: "count finished jobs",
		text: `SELECT COUNT(*) AS rows FROM (SELECT 1 ${from} LIMIT ${MOST_COUNTED})`,
	};
	const sample: Sql = {
		name: "size of finished jobs",
		text: `SELECT avg(size) AS bytes FROM (
			SELECT length(body) + length(status) + 100 AS size ${from} LIMIT 100)`,
	};
	let rows = 0;
	let bytes = 0;
	for (const [state, after] of endings(keep)) {
		for (const priority of PRIORITIES) {
			const values = [state, priority, after];
			const [counted] = connection.rows<{ rows: number }>(count, values);
			const own = counted?.rows ?? 0;
			if (own === 0) continue;
			const [sampled] = connection.rows<{ bytes: number }>(sample, values);
			rows += own;
			bytes += own * Math.round(sampled?.bytes ?? 0);
		}
	}
	return { rows, bytes };
}

function freeBytes(connection: SqliteConnection): number {
	const [row] = connection.rows<{ free: number; size: number }>(PAGES, []);
	return (row?.free ?? 0) * (row?.size ?? 0);
}

function report(host: string, at: ShardOfQueue, step: RotationStep): void {
	if (!QUEUE_CHANNELS.queueRotation.hasSubscribers) return;
	QUEUE_CHANNELS.queueRotation.publish({
		kind: "step",
		...at,
		host,
		step,
		isDone: true,
		stallMs: null,
	});
}
