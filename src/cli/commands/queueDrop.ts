import { CorkboardError } from "../../errors.ts";
import { graphJobs } from "../../ops/jobs/jobs.ts";
import { deleteQueue, findQueue } from "../../queue/admin/queueAdmin.ts";
import { queueStats } from "../../queue/admin/queueStats.ts";
import { plural } from "../../util/format.ts";
import { UsageError } from "../arguments.ts";
import { argument, command, DRY_RUN_FLAG, flag, option } from "../command.ts";
import { accessOf, openQueuesForCommand } from "../queue/queueCommand.ts";

const OWN_QUEUES: ReadonlySet<string> = new Set(
	graphJobs.map(({ queue }) => queue),
);

export const { usage, run } = command({
	summary: "Deletes a queue with all its jobs, for good.",
	arguments: { queue: argument("QUEUE") },
	options: {
		confirm: option("QUEUE", "the name once more"),
		force: flag(
			"delete it also with jobs that are pending or running, and if Corkboard itself enqueues into it",
		),
		dryRun: DRY_RUN_FLAG,
	},
	details:
		"If it is interrupted, or a shard does not answer, the queue is being deleted until it is run again to the end.",
	async run({ queue, confirm, force, dryRun }, context) {
		if (!dryRun && confirm !== queue) {
			throw new UsageError(
				`This deletes all jobs of ${queue}. To confirm, name it again: --confirm ${queue}.`,
			);
		}
		if (!force && OWN_QUEUES.has(queue)) {
			throw new CorkboardError(
				"CONFLICT",
				`Corkboard itself enqueues jobs into ${queue}: outbox entries of writes would wait for it. To stop its jobs, use queues pause ${queue}. With --force it is deleted all the same; init creates it again.`,
			);
		}
		await using opened = await openQueuesForCommand(context, accessOf(dryRun));
		const { store } = opened;
		await findQueue(store, queue);
		const { stats } = await queueStats(store, queue);
		const pending = stats.ready.jobs + stats.delayed.jobs;
		const running = stats.running.jobs + stats.expired.jobs;
		const finished = stats.succeeded.jobs + stats.failed.jobs;
		if (!dryRun) await deleteQueue(store, queue, { force });
		return {
			value: { queue, dryRun, pending, running, finished },
			lines: [
				`${queue} ${dryRun ? "would be deleted" : "deleted"} with ${plural(pending, "pending job")}, ${running} running, ${finished} finished`,
			],
		};
	},
});
