import { findQueue } from "../../queue/admin/queueAdmin.ts";
import { scanJobs } from "../../queue/admin/scanJobs.ts";
import { UsageError } from "../arguments.ts";
import { argument, command, flag, option } from "../command.ts";
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
import { integer, oneOf, present } from "../values.ts";

const DEFAULT = 100;
const MOST = 10_000;

export const { usage, run } = command({
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
			"of pending jobs, those that are due now, or later",
		),
		priority: PRIORITY,
		matching: MATCHING,
		first: option(
			integer(1, MOST),
			`how many from the start (default ${DEFAULT}, at most ${MOST})`,
			DEFAULT,
		),
		after: option("CURSOR", "go on where a page ended"),
		body: flag("print the bodies too"),
	},
	details:
		"Jobs come by priority, then by time: pending ones by when they are due, running ones by when their claim ends, others by when they ended. A job that does not change while you page is printed once. --matching looks at 10,000 jobs of a shard at a time, so that a page may be empty and still have a cursor.",
	exitCodes: { 1: "a shard does not answer, or an error" },
	async run(
		{ queue, state, due, priority, matching, first, after, body },
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
			{ limit: first, body, ...present({ after }) },
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

/** Of a shard that answers; of this machine where none does. */
async function clockOf(store: {
	readonly shards: readonly number[];
	now(shard: number): Promise<number>;
}): Promise<number> {
	const clocks = store.shards.map((shard) => store.now(shard));
	return Promise.any(clocks).catch(() => Date.now() * 1_000);
}
