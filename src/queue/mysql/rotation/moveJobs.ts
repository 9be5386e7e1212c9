import { sqlOfSelect } from "../../../storage/mysql/dialect.ts";
import type { MysqlSession } from "../../../storage/mysql/driver/host.ts";
import { AHEAD_HOURS, bucketOf, hourOf } from "../../bucket.ts";
import { STATE } from "../../jobStore.ts";
import type { Keep, RotationStep } from "../../rotationStore.ts";
import { lockQueue } from "../../statements/queues.ts";
import { queueRow } from "../dialect.ts";
import {
	deleteRows,
	findIds,
	type KeptRow,
	NOW,
	type RotatedQueue,
	type Source,
	selectKept,
	storeAgain,
	toKeptRow,
} from "./rotationSql.ts";

/**
 * Moves jobs that are to be kept, in one transaction: of a span those that
 * nobody is running, of an out table all. Returns how many it moved. Their
 * locks keep a worker's ack of a job in the out table waiting until the job is
 * where the worker looks for it again.
 */
export async function moveJobs(
	session: MysqlSession,
	tables: RotatedQueue,
	source: Source,
	keep: Keep,
	limit: number,
	done: (step: RotationStep) => void = () => {},
): Promise<number> {
	const isOut = "outBucket" in source;
	try {
		await session.run({ name: "begin", text: "START TRANSACTION", values: [] });
		// A repeated enqueue looks for its jobs under the same lock: it finds them before or after.
		if (isOut) {
			const queue = queueRow(tables.database, tables.queue);
			await session.rows(sqlOfSelect(lockQueue(queue)));
		}
		const [now] = await session.rows({
			name: "now",
			text: `SELECT ${NOW}`,
			values: [],
		});
		const selected = await session.rows(
			selectKept(tables, source, keep, limit),
		);
		const rows = selected.map(toKeptRow);
		done(isOut ? "selected jobs to rescue" : "selected jobs to move");
		if (rows.length > 0) {
			const stored = isOut ? await storedIds(session, tables, rows) : NONE;
			const absent = rows.filter(({ local }) => !stored.has(local));
			const byBucket = Map.groupBy(absent, (row) =>
				nextBucket(row, Number(now?.[0])),
			);
			for (const [bucket, some] of byBucket) {
				await session.run(storeAgain(tables, source, some, bucket));
			}
			done(isOut ? "stored rescued jobs" : "stored moved jobs");
			await session.run(deleteRows(tables, source, rows));
			done(isOut ? "deleted rescued jobs" : "deleted moved jobs");
		}
		await session.run({ name: "commit", text: "COMMIT", values: [] });
		if (rows.length > 0) {
			done(isOut ? "committed rescued jobs" : "committed moved jobs");
		}
		return rows.length;
	} catch (thrown) {
		// The session may continue with something else.
		await session
			.run({ name: "rollback", text: "ROLLBACK", values: [] })
			.catch(() => {});
		throw thrown;
	}
}

const NONE: ReadonlySet<string> = new Set();

/** Jobs that are stored already: their enqueue was repeated while they were swapped out. */
async function storedIds(
	session: MysqlSession,
	tables: RotatedQueue,
	rows: readonly KeptRow[],
): Promise<ReadonlySet<string>> {
	const found = await session.rows(findIds(tables, rows));
	return new Set(found.map(([local]) => String(local)));
}

/**
 * Pending jobs go where one that becomes pending goes. Running ones go back to
 * their own bucket, where their workers look for them. Finished ones go where
 * they are given back about when they need not be kept any more: succeeded ones
 * soon, failed ones as late as there are spans.
 */
function nextBucket({ state, at, bucket }: KeptRow, now: number): number {
	if (state === STATE.pending) return bucketOf(at, now);
	if (state === STATE.running) return bucket;
	return hourOf(now) + (state === STATE.failed ? AHEAD_HOURS : 0);
}
