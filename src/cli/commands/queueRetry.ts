import { retryFailed } from "../../queue/admin/changeJobs.ts";
import { findQueue } from "../../queue/admin/queueAdmin.ts";
import {
	argument,
	command,
	DRY_RUN_FLAG,
	JSON_FLAG,
	option,
} from "../command.ts";
import {
	changedResult,
	changeOne,
	DEFAULT_LIMIT,
	isJobId,
	LIMIT,
	refuseChoices,
} from "../queue/queueChange.ts";
import {
	accessOf,
	MATCHING,
	openQueuesForCommand,
	PRIORITY,
} from "../queue/queueCommand.ts";
import { duration, integer, present, text } from "../values.ts";

export const { usage, run } = command({
	summary: "Lets failed jobs start again: those of a queue, or one by its id.",
	arguments: { target: argument(text("QUEUE|ID")) },
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
		json: JSON_FLAG,
	},
	details:
		"Look at why they failed first: queue scan QUEUE --state failed. A retried job keeps its id, its attempts so far and its status. It can be run again: what was retried has not failed any more.",
	async run(given, context) {
		const { target, priority, matching, attempts, limit, dryRun } = given;
		const isOne = isJobId(target);
		if (isOne) refuseChoices({ priority, matching, limit });
		await using opened = await openQueuesForCommand(context, accessOf(dryRun));
		const { store } = opened;
		if (isOne) {
			const one = await changeOne(store, target, {
				states: ["failed"],
				isDryRun: dryRun,
				change: async (shard) => ({
					kind: "retry",
					due: (await store.now(shard)) + given.in * 1_000,
					moreAttempts: attempts,
				}),
			});
			return changedResult({ ...one, dryRun, verb: "retried" });
		}
		await findQueue(store, target);
		const changed = await retryFailed(store, target, {
			...present({ priority, matching }),
			attempts,
			dueInMs: given.in,
			limit: limit ?? DEFAULT_LIMIT,
			dryRun,
		});
		return changedResult({ queue: target, changed, dryRun, verb: "retried" });
	},
});
