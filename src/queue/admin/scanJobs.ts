import { CorkboardError } from "../../errors.ts";
import { quoted } from "../../util/quoted.ts";
import { checkLocalId, type LocalId } from "../jobId.ts";
import type {
	CountedJobs,
	Job,
	JobPosition,
	JobStore,
	Priority,
} from "../jobStore.ts";

/** Jobs of one state of a queue, on all shards: pending ones by when they are due, running ones by when their claim ends, others by when they ended. */
export interface JobFilter extends CountedJobs {
	/** In the body, upper and lower case as given. */
	readonly matching?: string;
}

export interface JobOnShard extends Job {
	readonly shard: number;
}

export interface ScanPage {
	/** In order of priority, time, shard and id. */
	readonly jobs: readonly JobOnShard[];
	/** Where to continue; null at the end. A page may be empty and have one if few jobs match. */
	readonly next: string | null;
	/** Shards that could not be read. Their jobs after this page's position are left out. */
	readonly failures: ReadonlyMap<number, CorkboardError>;
}

/** Jobs that a page reads of each shard, if it looks into bodies. */
const MAX_READ = 10_000;

/**
 * One page of a queue's jobs. The cursor is a position (priority, time, shard,
 * id), so jobs that come, go or change elsewhere neither shift nor repeat
 * others: a job that stays as it is, is on exactly one page.
 */
export async function scanJobs(
	store: Pick<JobStore, "scan" | "shards">,
	queue: string,
	filter: JobFilter,
	page: {
		readonly limit: number;
		/** The cursor of the page before. Throws BAD_USER_INPUT for any other text. */
		readonly after?: string;
		readonly body?: boolean;
	},
): Promise<ScanPage> {
	const { priority, ...rest } = filter;
	const after = page.after === undefined ? null : parseCursor(page.after);
	const first = after?.priority ?? priority ?? 1;
	const last = priority ?? 3;
	const jobs: JobOnShard[] = [];
	const failures = new Map<number, CorkboardError>();
	for (let current = first; current <= last; current++) {
		const found = await scanPriority(
			store,
			queue,
			{ ...rest, priority: current as Priority },
			{
				limit: page.limit - jobs.length,
				body: page.body ?? false,
				after: current === after?.priority ? after : null,
			},
		);
		jobs.push(...found.jobs);
		for (const [shard, error] of found.failures) failures.set(shard, error);
		if (found.next !== null) {
			return { jobs, next: formatCursor(found.next), failures };
		}
		if (jobs.length === page.limit && current < last) {
			const next = formatCursor(startOf((current + 1) as Priority));
			return { jobs, next, failures };
		}
	}
	return { jobs, next: null, failures };
}

/** All pages, one after the other, until `enough` jobs are found. Throws the first failure of a shard. */
export async function* scanAll(
	store: Pick<JobStore, "scan" | "shards">,
	queue: string,
	filter: JobFilter,
	options: { readonly limit: number; readonly body?: boolean },
): AsyncGenerator<readonly JobOnShard[]> {
	let left = options.limit;
	let after: string | undefined;
	while (left > 0) {
		const page = await scanJobs(store, queue, filter, {
			limit: Math.min(left, PAGE),
			...(options.body !== undefined && { body: options.body }),
			...(after !== undefined && { after }),
		});
		for (const failure of page.failures.values()) throw failure;
		left -= page.jobs.length;
		if (page.jobs.length > 0) yield page.jobs;
		if (page.next === null) return;
		after = page.next;
	}
}

const PAGE = 500;

interface Cursor extends JobPosition {
	readonly priority: Priority;
	readonly shard: number;
}

/** Before and after every id. */
const FIRST_ID = checkLocalId("00000000000070008000000000000000");
const LAST_ID = checkLocalId("ffffffffffff7fffbfffffffffffffff");

function startOf(priority: Priority): Cursor {
	return { priority, at: 0, shard: 0, local: FIRST_ID };
}

async function scanPriority(
	store: Pick<JobStore, "scan" | "shards">,
	queue: string,
	filter: JobFilter & { readonly priority: Priority },
	{
		limit,
		body,
		after,
	}: {
		readonly limit: number;
		readonly body: boolean;
		readonly after: Cursor | null;
	},
): Promise<{
	readonly jobs: readonly JobOnShard[];
	readonly next: Cursor | null;
	readonly failures: ReadonlyMap<number, CorkboardError>;
}> {
	const failures = new Map<number, CorkboardError>();
	const { priority } = filter;
	let bound: Cursor | null = null;
	const found: (JobOnShard & Cursor)[] = [];
	const answers = await Promise.all(
		store.shards.map(async (shard) => {
			try {
				return await store.scan(
					{ queue, shard },
					{
						...filter,
						...(after !== null && { after: positionOn(shard, after) }),
						limit: filter.matching === undefined ? limit : MAX_READ,
						body,
					},
				);
			} catch (error) {
				if (!(error instanceof CorkboardError)) throw error;
				// The queue may not be on every shard yet.
				if (error.code !== "NOT_FOUND") failures.set(shard, error);
				return null;
			}
		}),
	);
	for (const [index, answer] of answers.entries()) {
		const shard = store.shards[index] as number;
		if (answer === null) continue;
		for (const job of answer.jobs) found.push({ ...job, priority, shard });
		if (answer.next === null) continue;
		const end: Cursor = { ...answer.next, priority, shard };
		if (bound === null || compare(end, bound) < 0) bound = end;
	}
	// Behind the first shard's end there may be jobs that were not read.
	const within = found
		.filter((job) => bound === null || compare(job, bound) <= 0)
		.sort(compare);
	const jobs = within.slice(0, limit);
	const lastJob = jobs.at(-1);
	const isCut = within.length > limit && lastJob !== undefined;
	return { jobs, next: isCut ? cursorOf(lastJob) : bound, failures };
}

/** What comes after the cursor in order of (at, shard, id), on this shard in order of (at, id). */
function positionOn(shard: number, cursor: Cursor): JobPosition {
	const { at } = cursor;
	if (shard === cursor.shard) return { at, local: cursor.local };
	return { at, local: shard < cursor.shard ? LAST_ID : FIRST_ID };
}

function cursorOf({ priority, at, shard, local }: Cursor): Cursor {
	return { priority, at, shard, local };
}

function compare(one: Cursor, other: Cursor): number {
	return (
		one.at - other.at ||
		one.shard - other.shard ||
		(one.local < other.local ? -1 : one.local > other.local ? 1 : 0)
	);
}

/** `1.1700000000000000.3.0190…`: priority, time, shard, id. */
function formatCursor({ priority, at, shard, local }: Cursor): string {
	return `${priority}.${at}.${shard}.${local}`;
}

function parseCursor(text: string): Cursor {
	const [, priority, at, shard, local] =
		/^([123])\.([0-9]{1,16})\.([0-9]{1,5})\.([0-9a-f]{32})$/.exec(text) ?? [];
	const id = local === undefined ? null : localIdOf(local);
	if (id === null || !Number.isSafeInteger(Number(at))) {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`A cursor is what the page before printed as its end, got ${quoted(text)}.`,
		);
	}
	return {
		priority: Number(priority) as Priority,
		at: Number(at),
		shard: Number(shard),
		local: id,
	};
}

function localIdOf(text: string): LocalId | null {
	try {
		return checkLocalId(text);
	} catch {
		return null;
	}
}
