import type { ShardLocation } from "../../storage/driver.ts";
import { StatementBatch } from "../../storage/statements/batch.ts";
import { bucketOf, isOpen } from "../bucket.ts";
import type { LocalId } from "../jobId.ts";
import type { Enqueued, NewJob } from "../jobStore.ts";
import type { QueueTables } from "../statements/dialect.ts";
import { findIds, insertJobs } from "../statements/jobs.ts";
import { holdersOf, insertKeys } from "../statements/keys.ts";
import { lockQueue } from "../statements/queues.ts";
import {
	type Decision,
	type InTransaction,
	type QueueCall,
	read,
	readLocked,
} from "./queueCall.ts";

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
		const answers = await call.transact(function* (now): InTransaction<
			Decision<readonly Enqueued[] | null>
		> {
			const isFirst =
				!repeats && jobs.every(({ bucket }) => isOpen(bucket, now));
			const stored = isFirst
				? yield* insertAll(call.tables, jobs, now)
				: yield* insertAbsent(call.tables, jobs, now);
			return { value: stored, last: stored === null ? null : [] };
		});
		if (answers !== null) return answers;
		if (tries === TRIES) {
			throw new TypeError("Jobs were enqueued by several callers at once.");
		}
		repeats = true;
	}
}

/** Null if one of them was there, for the caller to roll back. */
function* insertAll(
	tables: QueueTables,
	jobs: readonly NewJob[],
	now: number,
): InTransaction<readonly Enqueued[] | null> {
	const mergedInto = yield* takeKeys(tables, jobs);
	const wanted = jobs.filter(({ local }) => !mergedInto.has(local));
	let added = 0;
	const batch = new StatementBatch<ShardLocation>();
	for (const write of insertJobs(tables, wanted, now)) {
		batch.write(tables.shard, write, ({ affected }) => {
			added += affected;
		});
	}
	yield batch;
	if (added < wanted.length) return null;
	return jobs.map(({ local }) => {
		const holder = mergedInto.get(local);
		return holder === undefined ? "added" : { mergedInto: holder };
	});
}

function* insertAbsent(
	tables: QueueTables,
	jobs: readonly NewJob[],
	now: number,
): InTransaction<readonly Enqueued[] | null> {
	const isClosed = ({ bucket }: NewJob) => !isOpen(bucket, now);
	if (jobs.some(isClosed)) yield* read(tables, lockQueue(tables));
	const there = new Set(yield* read(tables, findIds(tables, jobs)));
	const absent = jobs.filter(({ local }) => !there.has(local));
	if (absent.length === 0) return jobs.map(() => "there");
	const fresh = absent.map((job) =>
		isClosed(job) ? { ...job, bucket: bucketOf(job.due, now) } : job,
	);
	const added = yield* insertAll(tables, fresh, now);
	if (added === null) return null;
	const answers = new Map(
		absent.map(({ local }, index) => [local, added[index] as Enqueued]),
	);
	const stored = absent.filter(({ local }) => answers.get(local) === "added");
	if (stored.length > 0) {
		const rows = yield* read(tables, findIds(tables, stored));
		if (rows.length > stored.length) return null;
	}
	return jobs.map(({ local }) => answers.get(local) ?? "there");
}

/** Takes the keys of jobs; returns those of which another pending job has the key, with that job. */
function* takeKeys(
	tables: QueueTables,
	jobs: readonly NewJob[],
): InTransaction<ReadonlyMap<LocalId, LocalId>> {
	const keyed = jobs.flatMap(({ local, key }) =>
		key === null ? [] : [{ local, key }],
	);
	if (keyed.length === 0) return new Map();
	// The first of a batch takes the key for all of it.
	const firsts = [
		...new Map(keyed.toReversed().map((each) => [each.key, each])).values(),
	];
	const keys = firsts.map(({ key }) => key);
	const found = yield* readLocked(
		tables,
		holdersOf(tables, keys),
		insertKeys(tables, firsts),
	);
	const holders = new Map(found.map(({ key, local }) => [key, local]));
	return new Map(
		keyed.flatMap(({ local, key }) => {
			const holder = holders.get(key) as LocalId;
			return holder === local ? [] : [[local, holder] as const];
		}),
	);
}
