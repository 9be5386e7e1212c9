import { retryFailed } from "../../queue/admin/changeJobs.ts";
import { parseJobId } from "../../queue/jobId.ts";
import { UsageError } from "../arguments.ts";
import { argument, command, DRY_RUN_FLAG, flag, option } from "../command.ts";
import { changeTarget, LIMIT } from "../queue/queueChange.ts";
import { MATCHING, PRIORITY } from "../queue/queueCommand.ts";
import { duration, integer, present } from "../values.ts";

export const { usage, run } = command({
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
			"with an ID: also a job that is running; what its worker does of it from then on does not count",
		),
		limit: LIMIT,
		dryRun: DRY_RUN_FLAG,
	},
	details:
		"Look at why they failed first: jobs list QUEUE --state failed. A retried job keeps its id, its attempts so far and its status. It can be run again: what was retried has not failed any more. A job of a worker that has gone is free once its claim ends; --running frees it at once.",
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
					...{ attempts, dueInMs },
				}),
		});
	},
});
