import { CorkboardError } from "../../errors.ts";
import { readByHost } from "../../storage/mysql/shards.ts";
import { unionAll } from "../../storage/mysql/sqlFragment.ts";
import { StorageFailure } from "../../storage/storageFailure.ts";
import { deadlineIn } from "../../util/deadline.ts";
import type { LocalId } from "../jobId.ts";
import type {
	CountedJobs,
	Due,
	DueRange,
	Job,
	JobKey,
	JobScan,
	ScannedJobs,
} from "../jobStore.ts";
import { unknownQueueShard } from "../portChecks.ts";
import { isNoTable, type QueueCall, toQueueError } from "./queueCall.ts";
import type { QueueShard } from "./queueShards.ts";
import { byBucket, jobOf, rowOf } from "./rows.ts";
import {
	countJobs,
	dueIn,
	jobsById,
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

/** One statement for each host, unless a queue does not exist: then one for each range, so that only its own fail. */
export async function dueJobs(
	shards: ReadonlyMap<number, QueueShard>,
	ranges: readonly DueRange[],
	readMs: number,
): Promise<readonly (Due | null | CorkboardError)[]> {
	const read = (some: readonly DueRange[], host: QueueShard["host"]) =>
		readDue(shards, some, host, readMs);
	const answers = await readByHost<DueRange, Due | null>(ranges, {
		shardOf: ({ at }) => shards.get(at.shard),
		absent: () => null,
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
							([answer]) => answer ?? null,
							(failure) => failed(failure, key),
						),
					),
				)) as (Due | null)[];
			}
		},
	});
	return answers.map((answer, index) => {
		const { at } = ranges[index] as DueRange;
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

function failed(thrown: unknown, { at }: DueRange): CorkboardError {
	const error = toQueueError(thrown, at);
	if (error instanceof CorkboardError) return error;
	throw thrown instanceof StorageFailure ? error : thrown;
}
