import { removeJobs } from "../../queue/changeJobs.ts";
import { findQueue } from "../../queue/queueAdmin.ts";
import {
	JSON_OPTION,
	type ParsedArguments,
	type Usage,
	UsageError,
} from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	accessOf,
	changeOne,
	isJobId,
	LIMIT_OPTION,
	limitOf,
	printChanged,
} from "../queueChange.ts";
import {
	DRY_RUN_OPTION,
	MATCHING_OPTION,
	openQueuesForCommand,
	PRIORITY_OPTION,
	given as present,
	priorityOf,
	stateOf,
} from "../queueCommand.ts";

/** A worker has the others. */
const STATES = ["pending", "succeeded", "failed"] as const;

export const usage: Usage = {
	summary:
		"Deletes jobs for good: those of a queue in one state, or one by its id.",
	operands: ["QUEUE|ID"],
	options: {
		state: {
			value: "STATE",
			values: STATES,
			description: `${STATES.join(", ")}: needed with QUEUE`,
		},
		priority: PRIORITY_OPTION,
		matching: MATCHING_OPTION,
		limit: LIMIT_OPTION,
		"dry-run": DRY_RUN_OPTION,
		json: JSON_OPTION,
	},
	details:
		"Run it with --dry-run first: it prints the ids. Jobs that are running stay: a worker has them. Finished jobs need not be removed: their disk is given back by itself.",
};

export async function run(
	given: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const { operands, options } = given;
	const [target = ""] = operands;
	const priority = priorityOf(options.priority);
	const limit = limitOf(given);
	const isDryRun = options["dry-run"] !== undefined;
	const isOne = isJobId(target);
	const choices = ["state", "priority", "matching", "limit"];
	if (isOne && choices.some((name) => options[name] !== undefined)) {
		throw new UsageError(
			"--state, --priority, --matching and --limit choose among jobs of a queue, not with an ID.",
		);
	}
	if (!isOne && options.state === undefined) {
		throw new UsageError(`Missing --state: ${STATES.join(", ")}.`);
	}
	const state = isOne
		? "pending"
		: (stateOf(options.state ?? "", STATES) as (typeof STATES)[number]);
	await using opened = await openQueuesForCommand(context, accessOf(given));
	const { store } = opened;
	if (isOne) {
		const one = await changeOne(store, target, {
			states: STATES,
			isDryRun,
			change: async () => ({ kind: "remove" }),
		});
		return printChanged(context, given, { ...one, verb: "removed" });
	}
	await findQueue(store, target);
	const changed = await removeJobs(store, target, {
		state,
		...present({ priority, matching: options.matching }),
		limit,
		dryRun: isDryRun,
	});
	return printChanged(context, given, {
		queue: target,
		changed,
		verb: "removed",
	});
}
