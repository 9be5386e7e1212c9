import { removeJobs } from "../../queue/admin/changeJobs.ts";
import { parseJobId } from "../../queue/jobId.ts";
import { UsageError } from "../arguments.ts";
import { argument, command, DRY_RUN_FLAG, option, YES } from "../command.ts";
import { isConfirmed } from "../fleetCommand.ts";
import { changeTarget, LIMIT } from "../queue/queueChange.ts";
import { MATCHING, PRIORITY } from "../queue/queueCommand.ts";
import { oneOf, present } from "../values.ts";

/** A worker has the others. */
const STATES = ["pending", "succeeded", "failed"] as const;

export const { usage, run } = command({
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
		"Run it with --dry-run first: it prints the ids. Jobs that are running stay: a worker has them. Finished jobs need not be removed: their disk is given back by itself.",
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
