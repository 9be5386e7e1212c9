import { retryFailed } from "../../queue/changeJobs.ts";
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
	countOf,
	DRY_RUN_OPTION,
	durationOf,
	MATCHING_OPTION,
	openQueuesForCommand,
	PRIORITY_OPTION,
	given as present,
	priorityOf,
} from "../queueCommand.ts";

export const usage: Usage = {
	summary: "Lets failed jobs start again: those of a queue, or one by its id.",
	operands: ["QUEUE|ID"],
	options: {
		priority: PRIORITY_OPTION,
		matching: MATCHING_OPTION,
		attempts: {
			value: "N",
			description: "how often they may be started again (default 1)",
		},
		in: {
			value: "DURATION",
			description:
				"when they are due, from now, such as 10m (default: at once)",
		},
		limit: LIMIT_OPTION,
		"dry-run": DRY_RUN_OPTION,
		json: JSON_OPTION,
	},
	details:
		"Look at why they failed first: queue scan QUEUE --state failed. A retried job keeps its id, its attempts so far and its status. It can be run again: what was retried has not failed any more.",
};

export async function run(
	given: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const { operands, options } = given;
	const [target = ""] = operands;
	const priority = priorityOf(options.priority);
	const attempts = countOf("attempts", options.attempts, 10_000) ?? 1;
	const dueInMs = durationOf("in", options.in) ?? 0;
	const limit = limitOf(given);
	const isDryRun = options["dry-run"] !== undefined;
	const isOne = isJobId(target);
	if (
		isOne &&
		[options.priority, options.matching, options.limit].some(
			(one) => one !== undefined,
		)
	) {
		throw new UsageError(
			"--priority, --matching and --limit choose among jobs of a queue, not with an ID.",
		);
	}
	await using opened = await openQueuesForCommand(context, accessOf(given));
	const { store } = opened;
	if (isOne) {
		const one = await changeOne(store, target, {
			states: ["failed"],
			isDryRun,
			change: async (shard) => ({
				kind: "retry",
				due: (await store.now(shard)) + dueInMs * 1_000,
				moreAttempts: attempts,
			}),
		});
		return printChanged(context, given, { ...one, verb: "retried" });
	}
	await findQueue(store, target);
	const changed = await retryFailed(store, target, {
		...present({ priority, matching: options.matching }),
		attempts,
		dueInMs,
		limit,
		dryRun: isDryRun,
	});
	return printChanged(context, given, {
		queue: target,
		changed,
		verb: "retried",
	});
}
