import { CorkboardError } from "../../errors.ts";
import { graphJobs } from "../../ops/jobs/jobs.ts";
import { deleteQueue, findQueue } from "../../queue/queueAdmin.ts";
import { queueStats } from "../../queue/queueStats.ts";
import { plural } from "../../util/format.ts";
import {
	JSON_OPTION,
	type ParsedArguments,
	type Usage,
	UsageError,
} from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { accessOf } from "../queueChange.ts";
import { DRY_RUN_OPTION, openQueuesForCommand } from "../queueCommand.ts";

const OWN_QUEUES: ReadonlySet<string> = new Set(
	graphJobs.map(({ queue }) => queue),
);

export const usage: Usage = {
	summary: "Deletes a queue with all its jobs, for good.",
	operands: ["QUEUE"],
	options: {
		confirm: { value: "QUEUE", description: "the name once more" },
		force: {
			description:
				"delete it also with jobs that are pending or running, and if Corkboard itself enqueues into it",
		},
		"dry-run": DRY_RUN_OPTION,
		json: JSON_OPTION,
	},
	details:
		"If it is interrupted, or a shard does not answer, the queue is being deleted until it is run again to the end.",
};

export async function run(
	given: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const { operands, options } = given;
	const [name = ""] = operands;
	const isDryRun = options["dry-run"] !== undefined;
	if (!isDryRun && options.confirm !== name) {
		throw new UsageError(
			`This deletes all jobs of ${name}. To confirm, name it again: --confirm ${name}.`,
		);
	}
	if (options.force === undefined && OWN_QUEUES.has(name)) {
		throw new CorkboardError(
			"CONFLICT",
			`Corkboard itself enqueues jobs into ${name}: outbox entries of writes would wait for it. To stop its jobs, use queue pause ${name}. With --force it is deleted all the same; init creates it again.`,
		);
	}
	await using opened = await openQueuesForCommand(context, accessOf(given));
	const { store } = opened;
	await findQueue(store, name);
	const { stats } = await queueStats(store, name);
	const pending = stats.ready.jobs + stats.delayed.jobs;
	const running = stats.running.jobs + stats.expired.jobs;
	const finished = stats.succeeded.jobs + stats.failed.jobs;
	if (!isDryRun) {
		await deleteQueue(store, name, { force: options.force !== undefined });
	}
	const jobs = `${plural(pending, "pending job")}, ${running} running, ${finished} finished`;
	context.stdout(
		options.json === undefined
			? `${name} ${isDryRun ? "would be deleted" : "deleted"} with ${jobs}`
			: JSON.stringify(
					{ queue: name, dryRun: isDryRun, pending, running, finished },
					null,
					"\t",
				),
	);
	return 0;
}
