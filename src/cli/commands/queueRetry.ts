import { retryFailed } from "../../queue/admin/changeJobs.ts";
import { argument, command, DRY_RUN_FLAG, option } from "../command.ts";
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
		limit: LIMIT,
		dryRun: DRY_RUN_FLAG,
	},
	details:
		"Look at why they failed first: queue scan QUEUE --state failed. A retried job keeps its id, its attempts so far and its status. It can be run again: what was retried has not failed any more.",
	async run(given, context) {
		const { target, priority, matching, attempts, in: dueInMs } = given;
		return changeTarget(context, given, {
			verb: "retried",
			choices: { priority, matching },
			states: ["failed"],
			change: async (store, shard) => ({
				kind: "retry",
				due: (await store.now(shard)) + dueInMs * 1_000,
				moreAttempts: attempts,
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
