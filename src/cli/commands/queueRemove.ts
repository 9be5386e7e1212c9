import { removeJobs } from "../../queue/admin/changeJobs.ts";
import { findQueue } from "../../queue/admin/queueAdmin.ts";
import { UsageError } from "../arguments.ts";
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
import { oneOf, present, text } from "../values.ts";

/** A worker has the others. */
const STATES = ["pending", "succeeded", "failed"] as const;

export const { usage, run } = command({
	summary:
		"Deletes jobs for good: those of a queue in one state, or one by its id.",
	arguments: { target: argument(text("QUEUE|ID")) },
	options: {
		state: option(
			oneOf("STATE", STATES),
			`${STATES.join(", ")}: needed with QUEUE`,
		),
		priority: PRIORITY,
		matching: MATCHING,
		limit: LIMIT,
		dryRun: DRY_RUN_FLAG,
		json: JSON_FLAG,
	},
	details:
		"Run it with --dry-run first: it prints the ids. Jobs that are running stay: a worker has them. Finished jobs need not be removed: their disk is given back by itself.",
	async run({ target, state, priority, matching, limit, dryRun }, context) {
		const isOne = isJobId(target);
		if (isOne) refuseChoices({ state, priority, matching, limit });
		else if (state === undefined) {
			throw new UsageError(`Missing --state: ${STATES.join(", ")}.`);
		}
		await using opened = await openQueuesForCommand(context, accessOf(dryRun));
		const { store } = opened;
		if (state === undefined) {
			const one = await changeOne(store, target, {
				states: STATES,
				isDryRun: dryRun,
				change: async () => ({ kind: "remove" }),
			});
			return changedResult({ ...one, dryRun, verb: "removed" });
		}
		await findQueue(store, target);
		const changed = await removeJobs(store, target, {
			state,
			...present({ priority, matching }),
			limit: limit ?? DEFAULT_LIMIT,
			dryRun,
		});
		return changedResult({ queue: target, changed, dryRun, verb: "removed" });
	},
});
