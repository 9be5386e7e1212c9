import { CorkboardError } from "../../errors.ts";
import { type Fragment, unionAll } from "../../storage/mysql/sqlFragment.ts";
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
	Place,
	QueueRow,
	ScannedJobs,
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

export function dueJobs(
	shards: Shards,
	ranges: readonly DueRange[],
	readMs: number,
): Promise<readonly (Due | null | CorkboardError)[]> {
	return readRanges<DueRange, Due | null>(shards, ranges, (some, host) =>
		readDue(shards, some, host, readMs),
	);
}

export function hasExpired(
	shards: Shards,
	ranges: readonly ExpiryRange[],
	readMs: number,
): Promise<readonly (boolean | CorkboardError)[]> {
	return readRanges<ExpiryRange, boolean>(
		shards,
		ranges,
		async (some, host) => {
			const fragments = await Promise.all(
				some.map(async (range, part) => {
					const { database, clock, number } = shards.get(
						range.at.shard,
					) as QueueShard;
					const now = await clock.now(number);
					return expiredIn(
						tablesOf(database, range.at.queue),
						range,
						now,
						part,
					);
				}),
			);
			const rows = await host.rows(unionAll("has expired", fragments), {
				shard: some[0]?.at.shard ?? 0,
				deadline: deadlineIn(readMs),
			});
			const found = new Set(rows.map(([part]) => Number(part)));
			return some.map((_, part) => found.has(part));
		},
	);
}

/** The rows of `queues` of many shards; of each by itself where one has no tables yet. */
export async function readQueues(
	shards: Shards,
	numbers: readonly number[],
	readMs: number,
): Promise<readonly (readonly QueueRow[] | CorkboardError)[]> {
	const read = async (
		some: readonly number[],
		host: QueueShard["host"],
	): Promise<readonly (readonly QueueRow[])[]> => {
		const rows = await host.rows(
			unionAll(
				"queues",
				some.map((number, part) => {
					const { database } = shards.get(number) as QueueShard;
					return queuesIn(database, part);
				}),
			),
			{ shard: some[0] ?? 0, deadline: deadlineIn(readMs) },
		);
		const byPart = Map.groupBy(rows, ([part]) => Number(part));
		return some.map((_, part) =>
			(byPart.get(part) ?? [])
				.map(([, name, settings, version]) => ({
					name: String(name),
					settings: parseSettings(String(settings)),
					version: Number(version),
				}))
				.sort((one, other) => (one.name < other.name ? -1 : 1)),
		);
	};
	const answers = await readByHost<QueueShard, number, readonly QueueRow[]>(
		numbers,
		{
			placeOf: (number) => shards.get(number),
			absent: () => [],
			maxKeys: RANGES,
			async read(host, some) {
				const keys = some.map(({ key }) => key);
				try {
					return await read(keys, host);
				} catch (thrown) {
					if (!isNoTable(thrown)) throw thrown;
					return Promise.all(
						keys.map(async (key) => {
							try {
								return (await read([key], host))[0] ?? [];
							} catch (failure) {
								// A shard whose tables have not been created has no queues.
								if (isNoTable(failure)) return [];
								throw failure;
							}
						}),
					);
				}
			},
		},
	);
	return answers.map((answer, index) => {
		const number = numbers[index] ?? 0;
		return shards.has(number) ? answer : unknownQueueShard(number);
	});
}

/** One statement for each host, unless a queue does not exist: then one for each range, so that only its own fail. */
async function readRanges<Range extends { readonly at: Place }, A>(
	shards: Shards,
	ranges: readonly Range[],
	read: (
		some: readonly Range[],
		host: QueueShard["host"],
	) => Promise<readonly A[]>,
): Promise<readonly (A | CorkboardError)[]> {
	const answers = await readByHost<QueueShard, Range, A>(ranges, {
		placeOf: ({ at }) => shards.get(at.shard),
		// Replaced below.
		absent: () => null as A,
		maxKeys: RANGES,
		async read(host, some) {
			const keys = some.map(({ key }) => key);
			try {
				return await read(keys, host);
			} catch (thrown) {
				if (!isNoTable(thrown)) throw thrown;
				return (await Promise.all(
					keys.map((key) =>
						read([key], host).then(
							([answer]) => answer,
							(failure) => failed(failure, key),
						),
					),
				)) as A[];
			}
		},
	});
	return answers.map((answer, index) => {
		const { at } = ranges[index] as Range;
		return shards.has(at.shard) ? answer : unknownQueueShard(at.shard);
	});
}

async function readDue(
	shards: ReadonlyMap<number, QueueShard>,
	ranges: readonly DueRange[],
	host: QueueShard["host"],
	readMs: number,
): Promise<readonly (Due | null)[]> {
	const rows = await host.rows(
		unionAll(
			"due",
			ranges.map((range, part) => {
				const { database } = shards.get(range.at.shard) as QueueShard;
				return dueIn(tablesOf(database, range.at.queue), range, part);
			}),
		),
		{ shard: ranges[0]?.at.shard ?? 0, deadline: deadlineIn(readMs) },
	);
	const answers = new Array<Due | null>(ranges.length).fill(null);
	for (const [part, bucket, at] of rows) {
		answers[Number(part)] = { bucket: Number(bucket), at: Number(at) };
	}
	return answers;
}

function failed(
	thrown: unknown,
	{ at }: { readonly at: Place },
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

/** Rows: part, name, settings, version. */
export function queuesIn(database: string, part: number): Fragment {
	return {
		text: `SELECT ${part} AS part, name, settings, version FROM ${queuesTable(database)}`,
		values: [],
	};
}
