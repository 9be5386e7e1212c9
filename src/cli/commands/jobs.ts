import { CorkboardError } from "../../errors.ts";
import {
	lookupJobs,
	removeJobs,
	retryFailed,
} from "../../queue/admin/changeJobs.ts";
import { findQueue } from "../../queue/admin/queueAdmin.ts";
import { scanJobs } from "../../queue/admin/scanJobs.ts";
import { parseJobId } from "../../queue/jobId.ts";
import { columns, UsageError } from "../arguments.ts";
import {
	argument,
	command,
	DRY_RUN_FLAG,
	flag,
	option,
	YES,
} from "../command.ts";
import { isConfirmed } from "../fleetCommand.ts";
import { changeTarget, LIMIT } from "../queue/queueChange.ts";
import {
	failuresAsJson,
	JOB_STATES,
	jobAsJson,
	MATCHING,
	openQueuesForCommand,
	PRIORITY,
	type PrintedJob,
	reportFailures,
	timeOf,
} from "../queue/queueCommand.ts";
import { table } from "../table.ts";
import { duration, integer, oneOf, present } from "../values.ts";

const DEFAULT = 100;
const MOST = 10_000;

const list = command({
	isWatched: true,
	summary: "Prints the jobs of a queue that are in one state, page by page.",
	arguments: { queue: argument("QUEUE") },
	options: {
		state: option(
			oneOf("STATE", JOB_STATES),
			`${JOB_STATES.join(", ")} (default pending)`,
			"pending",
		),
		due: option(
			oneOf("WHEN", ["now", "later"]),
			"only pending jobs that are due now, or later",
		),
		priority: PRIORITY,
		matching: MATCHING,
		limit: option(
			integer(1, MOST),
			`how many from the start (default ${DEFAULT}, at most ${MOST})`,
			DEFAULT,
		),
		after: option("CURSOR", "continue where a page ended"),
		body: flag("print the bodies too"),
	},
	details:
		"Jobs are sorted by priority, then by time: pending ones by when they are due, running ones by when their claim ends, others by when they ended. A job that does not change while you page is printed once. --matching looks at 10,000 jobs of a shard at a time, so that a page may be empty and still have a cursor.",
	exitCodes: { 1: "a shard does not answer, or an error" },
	async run(
		{ queue, state, due, priority, matching, limit, after, body },
		context,
	) {
		if (due !== undefined && state !== "pending") {
			throw new UsageError("--due is for pending jobs.");
		}
		await using opened = await openQueuesForCommand(context, "readOnly");
		const { store } = opened;
		await findQueue(store, queue);
		const now = due === undefined ? 0 : await clockOf(store);
		const { jobs, next, failures } = await scanJobs(
			store,
			queue,
			{
				state,
				...present({ priority, matching }),
				...(due === "now" && { until: now + 1 }),
				...(due === "later" && { from: now + 1 }),
			},
			{ limit, body, ...present({ after }) },
		);
		const shown = jobs.map((job) => jobAsJson({ ...job, queue }));
		const { notes, code } = reportFailures(failures);
		return {
			value: { jobs: shown, next, failures: failuresAsJson(failures) },
			lines: shown.length === 0 ? ["no jobs"] : printed(shown, TIME[state]),
			hints: next === null ? [] : [`there may be more: --after ${next}`],
			notes,
			code,
		};
	},
});

function printed(jobs: readonly PrintedJob[], time: string): readonly string[] {
	return table([
		["id", "priority", time, "attempts", "status", "body"],
		...jobs.map((job) => [
			job.id,
			String(job.priority),
			timeOf(job),
			`${job.attempts} of ${job.allowed}`,
			job.status[0] ?? "",
			job.body === null ? "" : JSON.stringify(job.body),
		]),
	]);
}

/** What the time of a job says. */
const TIME = {
	pending: "due",
	running: "claim ends",
	succeeded: "ended",
	failed: "ended",
} as const;

/** The clock of a shard that answers; that of this machine if none does. */
async function clockOf(store: {
	readonly shards: readonly number[];
	now(shard: number): Promise<number>;
}): Promise<number> {
	const clocks = store.shards.map((shard) => store.now(shard));
	return Promise.any(clocks).catch(() => Date.now() * 1_000);
}

const show = command({
	isWatched: true,
	summary:
		"Prints a job: its state, its attempts, what workers reported, its body.",
	arguments: { id: argument("ID") },
	details:
		"ID looks like feedItem.3.497904.01jd9k4w7r2bx8q0m5t6v3n1ye, and jobs list and the log print it.",
	async run({ id }, context) {
		await using opened = await openQueuesForCommand(context, "readOnly");
		const [found = null] = await lookupJobs(opened.store, [id], { body: true });
		if (found === null) {
			throw new CorkboardError(
				"NOT_FOUND",
				`There is no job ${id}. Finished jobs are kept for a while (keepSucceededMs and keepFailedMs of the queue), and then deleted.`,
			);
		}
		const job = jobAsJson(found);
		return { value: job, lines: printedOfShow(job) };
	},
});

function printedOfShow(job: PrintedJob): readonly string[] {
	const { dueAt, claimEndsAt, endedAt, status } = job;
	const rows: (readonly [string, string])[] = [
		["id", job.id],
		["queue", job.queue],
		["shard", String(job.shard)],
		["state", job.state],
		["priority", String(job.priority)],
		["created", job.createdAt],
		...row("due", dueAt),
		...row("claim ends", claimEndsAt),
		...row("ended", endedAt),
		["attempts", `${job.attempts} of ${job.allowed}`],
		...row("key", job.key),
		...status.map((line, index): readonly [string, string] => [
			index === 0 ? "status" : "",
			line,
		]),
		["body", pretty(job.body ?? "")],
	];
	return columns(rows).map((line) => line.slice(2));
}

function row(
	name: string,
	value: string | null,
): readonly (readonly [string, string])[] {
	return value === null ? [] : [[name, value]];
}

/** JSON over several lines, anything else as it is; without characters that would move the cursor. */
function pretty(body: string): string {
	try {
		return JSON.stringify(JSON.parse(body));
	} catch {
		return JSON.stringify(body);
	}
}

const retry = command({
	summary: "Lets failed jobs start again: those of a queue, or one by its id.",
	arguments: { target: argument("QUEUE|ID") },
	options: {
		priority: PRIORITY,
		matching: MATCHING,
		attempts: option(
			integer(1, 10_000),
			"how often they may be started again (default 1)",
			1,
		),
		in: option(
			duration(),
			"when they are due, from now, such as 10m (default: at once)",
			0,
		),
		running: flag(
			"with an ID: also a job that is running; its worker's report does not count any more",
		),
		limit: LIMIT,
		dryRun: DRY_RUN_FLAG,
	},
	details:
		"Look at why they failed first: jobs list QUEUE --state failed. A retried job keeps its id, its attempts so far and its status. The command can be run again: a job that was retried no longer counts as failed. The job of a worker that is gone is free when its claim ends; --running frees it at once.",
	async run(given, context) {
		const { target, priority, matching, attempts, in: dueInMs } = given;
		const { running } = given;
		if (running && parseJobId(target) === null) {
			throw new UsageError("--running is for one job: give its ID.");
		}
		return changeTarget(context, given, {
			verb: "retried",
			choices: { priority, matching },
			states: running ? ["failed", "running"] : ["failed"],
			change: async (store, shard) => ({
				kind: "retry",
				due: (await store.now(shard)) + dueInMs * 1_000,
				moreAttempts: attempts,
				running,
			}),
			changeAll: (store, options) =>
				retryFailed(store, target, {
					...options,
					...present({ priority, matching }),
					attempts,
					dueInMs,
				}),
		});
	},
});

/** A worker has the others. */
const STATES = ["pending", "succeeded", "failed"] as const;

const remove = command({
	summary:
		"Deletes jobs for good: those of a queue in one state, or one by its id.",
	arguments: { target: argument("QUEUE|ID") },
	options: {
		state: option(
			oneOf("STATE", STATES),
			`${STATES.join(", ")}: needed with QUEUE`,
		),
		priority: PRIORITY,
		matching: MATCHING,
		limit: LIMIT,
		dryRun: DRY_RUN_FLAG,
		yes: YES,
	},
	details:
		"Run it with --dry-run first: it prints the ids. Jobs that are running stay, because a worker has them. Finished jobs need not be deleted: workers give their disk back.",
	async run(given, context) {
		const { target, state, priority, matching } = given;
		if (state === undefined && parseJobId(target) === null) {
			throw new UsageError(`Missing --state: ${STATES.join(", ")}.`);
		}
		const question = `This deletes jobs of ${target} for good; --dry-run prints their ids.`;
		if (!given.dryRun && !(await isConfirmed(context, given, question))) {
			return 1;
		}
		return changeTarget(context, given, {
			verb: "removed",
			choices: { state, priority, matching },
			states: STATES,
			change: async () => ({ kind: "remove" }),
			changeAll: (store, options) =>
				removeJobs(store, target, {
					...options,
					...present({ priority, matching }),
					// It was asked for above.
					state: state as (typeof STATES)[number],
				}),
		});
	},
});

export const verbs = {
	list,
	show,
	retry,
	delete: remove,
};
