import type { MysqlTransaction } from "../../storage/mysql/driver/commitProtocol.ts";
import { bucketOf, isOpen } from "../bucket.ts";
import type { LocalId } from "../jobId.ts";
import type { Enqueued, NewJob } from "../jobStore.ts";
import { type QueueCall, transact } from "./queueCall.ts";
import { localOf } from "./rows.ts";
import {
	insertJobs,
	insertKeys,
	lockQueue,
	type QueueTables,
	readKeys,
	rowsById,
} from "./statements.ts";

/** A first try that finds jobs there begins again as a repeat, and that once more if jobs moved while it looked. */
const TRIES = 4;

/**
 * Stores jobs. Their ids make it repeatable: the primary key refuses the second
 * row of a job in one bucket, and makes it wait for a first try that is still
 * under way. But jobs move to other buckets when they become pending again, so a
 * repeat looks for them in all partitions, before its insert and after: a row
 * that is in two places then is its own, and is rolled back.
 *
 * A bucket that has closed takes no more rows. Its jobs get a fresh one, under the
 * lock of the queue, so that two repeats do not each choose another. By then every
 * transaction of the first try has ended.
 */
export async function enqueueJobs(
	call: QueueCall,
	jobs: readonly NewJob[],
	isRepeat: boolean,
): Promise<readonly Enqueued[]> {
	if (jobs.length === 0) return [];
	let repeats = isRepeat;
	for (let tries = 1; ; tries++) {
		const answers = await transact(call, async (statements, now) => {
			const isFirst =
				!repeats && jobs.every(({ bucket }) => isOpen(bucket, now));
			const stored = isFirst
				? await insertAll(statements, call.tables, jobs, now)
				: await insertAbsent(statements, call.tables, jobs, now);
			return { value: stored, commit: stored !== null };
		});
		if (answers !== null) return answers;
		if (tries === TRIES) {
			throw new TypeError("Jobs were enqueued by several callers at once.");
		}
		repeats = true;
	}
}

/** Null where one of them was there, for the caller to roll back. */
async function insertAll(
	statements: MysqlTransaction,
	tables: QueueTables,
	jobs: readonly NewJob[],
	now: number,
): Promise<readonly Enqueued[] | null> {
	const mergedInto = await takeKeys(statements, tables, jobs);
	const wanted = jobs.filter(({ local }) => !mergedInto.has(local));
	if (wanted.length > 0) {
		const { affectedRows } = await statements.run(
			insertJobs(tables, wanted, now),
		);
		if (affectedRows < wanted.length) return null;
	}
	return jobs.map(({ local }) => {
		const holder = mergedInto.get(local);
		return holder === undefined ? "added" : { mergedInto: holder };
	});
}

async function insertAbsent(
	statements: MysqlTransaction,
	tables: QueueTables,
	jobs: readonly NewJob[],
	now: number,
): Promise<readonly Enqueued[] | null> {
	const isClosed = ({ bucket }: NewJob) => !isOpen(bucket, now);
	if (jobs.some(isClosed)) await statements.rows(lockQueue(tables));
	const there = new Set(await placesOf(statements, tables, jobs));
	const absent = jobs.filter(({ local }) => !there.has(local));
	if (absent.length === 0) return jobs.map(() => "there");
	const fresh = absent.map((job) =>
		isClosed(job) ? { ...job, bucket: bucketOf(job.due, now) } : job,
	);
	const added = await insertAll(statements, tables, fresh, now);
	if (added === null) return null;
	const answers = new Map(
		absent.map(({ local }, index) => [local, added[index] as Enqueued]),
	);
	const stored = absent.filter(({ local }) => answers.get(local) === "added");
	if (stored.length > 0) {
		const places = await placesOf(statements, tables, stored);
		if (places.length > stored.length) return null;
	}
	return jobs.map(({ local }) => answers.get(local) ?? "there");
}

/** The ids of those that are there, once for each row. */
async function placesOf(
	statements: MysqlTransaction,
	tables: QueueTables,
	jobs: readonly NewJob[],
): Promise<readonly LocalId[]> {
	const rows = await statements.rows(rowsById(tables, jobs));
	return rows.map(([local]) => localOf(local));
}

/** Takes the keys of jobs; returns those of which another pending job has the key, with that job. */
async function takeKeys(
	statements: MysqlTransaction,
	tables: QueueTables,
	jobs: readonly NewJob[],
): Promise<ReadonlyMap<LocalId, LocalId>> {
	const keyed = jobs.flatMap(({ local, key }) =>
		key === null ? [] : [{ local, key }],
	);
	if (keyed.length === 0) return new Map();
	// The first of a batch takes the key for all of it.
	const firsts = [
		...new Map(keyed.toReversed().map((each) => [each.key, each])).values(),
	];
	const [, , rows] = await statements.together([
		lockQueue(tables),
		insertKeys(tables, firsts),
		readKeys(
			tables,
			firsts.map(({ key }) => key),
		),
	]);
	const holders = new Map(
		(rows as readonly (readonly unknown[])[]).map(([key, local]) => [
			String(key),
			localOf(local),
		]),
	);
	return new Map(
		keyed.flatMap(({ local, key }) => {
			const holder = holders.get(key) as LocalId;
			return holder === local ? [] : [[local, holder] as const];
		}),
	);
}
