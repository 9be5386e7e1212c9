import { listQueues } from "../../queue/queueAdmin.ts";
import { queueStats } from "../../queue/queueStats.ts";
import { plural } from "../../util/format.ts";
import {
	JSON_OPTION,
	type ParsedArguments,
	type Usage,
	UsageError,
} from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { openQueuesForCommand, reportFailures } from "../queueCommand.ts";
import { table } from "../table.ts";

/** There are jobs left. */
const NOT_EMPTY = 3;

export const usage: Usage = {
	summary: "Says whether a shard of the queue has no jobs left to run.",
	operands: ["SHARD"],
	options: { json: JSON_OPTION },
	details:
		'First set "drain": true for its range in the topology: new jobs then go to other shards, and workers empty this one. When this prints that it is empty, the range can leave the topology. Finished jobs go with it.',
	exitCodes: {
		0: "it is drained and empty",
		3: "it is not drained, or has jobs that are pending or running",
	},
};

export async function run(
	{ operands: [text = ""], options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	await using opened = await openQueuesForCommand(context, "readOnly");
	const { store } = opened;
	const shard = store.shards.find((one) => String(one) === text);
	if (shard === undefined) {
		throw new UsageError(
			`SHARD must be a shard of the queue: ${store.shards.join(", ")}. Got ${JSON.stringify(text)}.`,
		);
	}
	const isDraining = !store.openShards.includes(shard);
	const { queues } = await listQueues(store);
	const rows = [];
	for (const { name } of queues) {
		const { stats, failures } = await queueStats(store, name, [shard]);
		if (failures.size > 0) return reportFailures(context, failures, "failed");
		const { ready, delayed, running, expired, failed, succeeded } = stats;
		rows.push({
			queue: name,
			pending: ready.jobs + delayed.jobs,
			running: running.jobs + expired.jobs,
			failed: failed.jobs,
			succeeded: succeeded.jobs,
		});
	}
	const left = rows.reduce((sum, row) => sum + row.pending + row.running, 0);
	const isEmpty = left === 0;
	if (options.json === undefined) {
		const problem = isDraining
			? `${plural(left, "job")} left to run`
			: 'it still takes new jobs: set "drain": true in the topology';
		context.stdout(
			[
				`shard ${shard} on ${store.hostOf(shard)}: ${isEmpty && isDraining ? "drained and empty" : problem}`,
				...table([
					["queue", "pending", "running", "failed", "succeeded"],
					...rows.map((row) => Object.values(row).map(String)),
				]),
			].join("\n"),
		);
	} else {
		const host = store.hostOf(shard);
		const shown = { shard, host, draining: isDraining, empty: isEmpty };
		context.stdout(JSON.stringify({ ...shown, queues: rows }, null, "\t"));
	}
	return isEmpty && isDraining ? 0 : NOT_EMPTY;
}
