import { findQueue } from "../../queue/queueAdmin.ts";
import { scanJobs } from "../../queue/scanJobs.ts";
import {
	JSON_OPTION,
	type ParsedArguments,
	type Usage,
	UsageError,
} from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	countOf,
	failuresAsJson,
	given,
	JOB_STATES,
	jobAsJson,
	MATCHING_OPTION,
	openQueuesForCommand,
	PRIORITY_OPTION,
	priorityOf,
	reportFailures,
	stateOf,
	timeOf,
} from "../queueCommand.ts";
import { table } from "../table.ts";

const DEFAULT = 100;
const MOST = 10_000;

export const usage: Usage = {
	summary: "Prints the jobs of a queue that are in one state, page by page.",
	operands: ["QUEUE"],
	options: {
		state: {
			value: "STATE",
			values: JOB_STATES,
			description: `${JOB_STATES.join(", ")} (default pending)`,
		},
		due: {
			value: "WHEN",
			values: ["now", "later"],
			description: "of pending jobs, those that are due now, or later",
		},
		priority: PRIORITY_OPTION,
		matching: MATCHING_OPTION,
		first: {
			value: "N",
			description: `how many from the start (default ${DEFAULT}, at most ${MOST})`,
		},
		after: { value: "CURSOR", description: "go on where a page ended" },
		body: { description: "print the bodies too" },
		json: JSON_OPTION,
	},
	details:
		"Jobs come by priority, then by time: pending ones by when they are due, running ones by when their claim ends, others by when they ended. A job that does not change while you page is printed once. --matching looks at 10,000 jobs of a shard at a time, so that a page may be empty and still have a cursor.",
	exitCodes: { 1: "a shard does not answer, or an error" },
};

export async function run(
	{ operands: [name = ""], options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const state = stateOf(options.state ?? "pending");
	const { due } = options;
	if (due !== undefined && due !== "now" && due !== "later") {
		throw new UsageError(`--due must be now or later, got ${due}.`);
	}
	if (due !== undefined && state !== "pending") {
		throw new UsageError("--due is for pending jobs.");
	}
	const priority = priorityOf(options.priority);
	const limit = countOf("first", options.first, MOST) ?? DEFAULT;
	await using opened = await openQueuesForCommand(context, "readOnly");
	const { store } = opened;
	await findQueue(store, name);
	const now = due === undefined ? 0 : await clockOf(store);
	const { jobs, next, failures } = await scanJobs(
		store,
		name,
		{
			state,
			...given({ priority, matching: options.matching }),
			...(due === "now" && { until: now + 1 }),
			...(due === "later" && { from: now + 1 }),
		},
		{
			limit,
			body: options.body !== undefined,
			...given({ after: options.after }),
		},
	);
	const shown = jobs.map((job) => jobAsJson({ ...job, queue: name }));
	if (options.json !== undefined) {
		const page = { jobs: shown, next, failures: failuresAsJson(failures) };
		context.stdout(JSON.stringify(page, null, "\t"));
		return reportFailures(context, failures);
	}
	context.stdout(
		shown.length === 0
			? "no jobs"
			: table([
					["id", "priority", TIME[state], "attempts", "status", "body"],
					...shown.map((job) => [
						job.id,
						String(job.priority),
						timeOf(job),
						`${job.attempts} of ${job.allowed}`,
						job.status[0] ?? "",
						job.body === null ? "" : JSON.stringify(job.body),
					]),
				]).join("\n"),
	);
	if (next !== null) context.stderr(`there may be more: --after ${next}`);
	return reportFailures(context, failures);
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
