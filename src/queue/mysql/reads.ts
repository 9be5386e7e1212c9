import { CorkboardError } from "../../errors.ts";
import type { KeyAt } from "../../storage/driver.ts";
import { type Fragment, unionAll } from "../../storage/mysql/dialect.ts";
import type { Row } from "../../storage/mysql/driver/mysql2Connection.ts";
import { readByHost } from "../../storage/readByHost.ts";
import { StorageFailure } from "../../storage/storageFailure.ts";
import { deadlineIn } from "../../util/deadline.ts";
import type { LocalId } from "../jobId.ts";
import type {
	CountedJobs,
	Due,
	DueRange,
	ExpiryRange,
	Job,
	JobKey,
	JobScan,
	QueueRow,
	ScannedJobs,
	ShardOfQueue,
} from "../jobStore.ts";
import { unknownQueueShard } from "../portChecks.ts";
import { parseSettings } from "../settings.ts";
import { queuesTable } from "./ddl.ts";
import {
	isNoTable,
	type QueueCall,
	type QueueShard,
	toQueueError,
} from "./queueCall.ts";
import { byBucket, jobOf, rowOf } from "./rows.ts";
import {
	countJobs,
	jobsById,
	type QueueTables,
	scanJobs,
	tablesOf,
} from "./statements.ts";

/** Ranges of one statement. */
const RANGES = 100;

export async function findJobs(
	{ shard, tables, options }: QueueCall,
	jobs: readonly JobKey[],
	body: boolean,
): Promise<readonly (Job | null)[]> {
	const found = new Map<LocalId, Job>();
	const add = async (some: readonly JobKey[], bucket?: number) => {
		const sql = jobsById(tables, some, {
			body,
			...(bucket !== undefined && { bucket }),
		});
		for (const row of await shard.host.rows(sql, options)) {
			const job = jobOf(row);
			found.set(job.local, job);
		}
	};
	await Promise.all(byBucket(jobs).map(([bucket, some]) => add(some, bucket)));
	const missing = jobs.filter(({ local }) => !found.has(local));
	if (missing.length > 0) await add(missing);
	return jobs.map(({ local }) => found.get(local) ?? null);
}

export async function scanQueue(
	{ shard, tables, options }: QueueCall,
	scan: JobScan,
): Promise<ScannedJobs> {
	const rows = await shard.host.rows(scanJobs(tables, scan), options);
	const last = rows.at(-1);
	const head = last && rowOf(last);
	return {
		jobs: rows.filter((row) => Number(row[12]) === 1).map(jobOf),
		next:
			head === undefined || rows.length < scan.limit
				? null
				: { at: head.at, local: head.local },
	};
}

export async function countQueue(
	{ shard, tables, options }: QueueCall,
	of: CountedJobs,
	cap: number,
): Promise<number> {
	const [[count] = []] = await shard.host.rows(
		countJobs(tables, of, cap),
		options,
	);
	return Number(count);
}

type Shards = ReadonlyMap<number, QueueShard>;

/** What is read of ranges of queues: a statement of a host has a part for each. */
interface RangeRead<Range, Answer> {
	readonly name: string;
	readonly fragment: (
		range: Range,
		shard: QueueShard,
		part: number,
	) => Fragment | Promise<Fragment>;
	/** Given the rows of its part. */
	readonly answer: (rows: readonly Row[]) => Answer;
	/** Where there is no such table (default: that there is no such queue). */
	readonly noTable?: Answer;
}

export const DUE: RangeRead<DueRange, Due | null> = {
	name: "due",
	fragment: (range, { database }, part) =>
		dueIn(tablesOf(database, range.at.queue), range, part),
	answer: ([row]) =>
		row === undefined ? null : { bucket: Number(row[1]), at: Number(row[2]) },
};

export const HAS_EXPIRED: RangeRead<ExpiryRange, boolean> = {
	name: "has expired",
	async fragment(range, { database, clock, number }, part) {
		const now = await clock.now(number);
		return expiredIn(tablesOf(database, range.at.queue), range, now, part);
	},
	answer: (rows) => rows.length > 0,
};

/** The queues of whole shards. One whose tables have not been created has none. */
export const QUEUES: RangeRead<
	{ readonly at: ShardOfQueue },
	readonly QueueRow[]
> = {
	name: "queues",
	fragment: (_, { database }, part) => ({
		text: `SELECT ${part} AS part, name, settings, version FROM ${queuesTable(database)}`,
		values: [],
	}),
	answer: (rows) =>
		rows
			.map(([, name, settings, version]) => ({
				name: String(name),
				settings: parseSettings(String(settings)),
				version: Number(version),
			}))
			.sort((one, other) => (one.name < other.name ? -1 : 1)),
	noTable: [],
};

/** One statement for each host, unless a queue does not exist: then one for each range, so that only its own fail. */
export async function readRanges<
	Range extends { readonly at: ShardOfQueue },
	Answer,
>(
	shards: Shards,
	ranges: readonly Range[],
	{ name, fragment, answer, noTable }: RangeRead<Range, Answer>,
	readMs: number,
): Promise<readonly (Answer | CorkboardError)[]> {
	const read = async (
		host: QueueShard["host"],
		some: readonly KeyAt<Range, QueueShard>[],
	): Promise<readonly (Answer | CorkboardError)[]> => {
		const [first] = some;
		if (first === undefined) return [];
		try {
			const fragments = some.map(({ key, shard }, part) =>
				fragment(key, shard, part),
			);
			const rows = await host.rows(
				unionAll(name, await Promise.all(fragments)),
				{ shard: first.shard.number, deadline: deadlineIn(readMs) },
			);
			const found = Map.groupBy(rows, ([part]) => Number(part));
			return some.map((_, part) => answer(found.get(part) ?? []));
		} catch (thrown) {
			if (!isNoTable(thrown)) throw thrown;
			if (some.length === 1) return [noTable ?? failed(thrown, first.key)];
			const each = some.map((one) =>
				read(host, [one]).catch((failure) => [failed(failure, one.key)]),
			);
			return (await Promise.all(each)).flat();
		}
	};
	return readByHost<QueueShard, Range, Answer | CorkboardError>(ranges, {
		placeOf: ({ at }) => shards.get(at.shard),
		absent: ({ at }) => unknownQueueShard(at.shard),
		maxKeys: RANGES,
		read,
	});
}

function failed(
	thrown: unknown,
	{ at }: { readonly at: ShardOfQueue },
): CorkboardError {
	const error = toQueueError(thrown, at);
	if (error instanceof CorkboardError) return error;
	throw thrown instanceof StorageFailure ? error : thrown;
}

/** Rows: part, if a claim is over. */
export function expiredIn(
	{ jobs: table }: QueueTables,
	{ buckets }: ExpiryRange,
	now: number,
	part: number,
): Fragment {
	const within =
		buckets === undefined
			? ""
			: `bucket BETWEEN ${buckets[0]} AND ${buckets[1]} AND`;
	return {
		text: `SELECT ${part} AS part FROM ${table} FORCE INDEX (queue)
			WHERE ${within} state = 1 AND priority IN (1, 2, 3) AND at < ${now}
			LIMIT 1`,
		values: [],
	};
}

/** Rows: part, bucket, at. */
export function dueIn(
	{ jobs: table }: QueueTables,
	{ buckets: [first, last], priority, floor }: DueRange,
	part: number,
): Fragment {
	const buckets =
		first === last
			? `bucket = ${first}`
			: `bucket BETWEEN ${first} AND ${last}`;
	return {
		text: `SELECT ${part} AS part, bucket, at FROM ${table} AS job FORCE INDEX (queue)
			WHERE ${buckets} AND state = 0 AND priority = ${priority} AND at >= ${floor}
			ORDER BY job.at, job.local_id LIMIT 1`,
		values: [],
	};
}
