import { listQueues } from "../../queue/admin/queueAdmin.ts";
import { queueStats } from "../../queue/admin/queueStats.ts";
import { plural } from "../../util/format.ts";
import { UsageError } from "../arguments.ts";
import { argument, command } from "../command.ts";
import { openQueuesForCommand, reportFailures } from "../queue/queueCommand.ts";
import { table } from "../table.ts";

/** There are jobs left. */
const NOT_EMPTY = 3;

export const { usage, run } = command({
	summary: "Says whether a shard of the queue has no jobs left to run.",
	arguments: { shard: argument("SHARD") },
	details:
		'First set "drain": true for its range in the topology: new jobs then go to other shards, and workers empty this one. When this prints that it is empty, the range can leave the topology. Finished jobs go with it.',
	exitCodes: {
		0: "it is drained and empty",
		3: "it is not drained, or has jobs that are pending or running",
	},
	async run(given, context) {
		await using opened = await openQueuesForCommand(context, "readOnly");
		const { store } = opened;
		const shard = store.shards.find((one) => String(one) === given.shard);
		if (shard === undefined) {
			throw new UsageError(
				`SHARD must be a shard of the queue: ${store.shards.join(", ")}. Got ${JSON.stringify(given.shard)}.`,
			);
		}
		const draining = !store.openShards.includes(shard);
		const { queues: all } = await listQueues(store);
		const queues = [];
		for (const { name } of all) {
			const { stats, failures } = await queueStats(store, name, [shard]);
			if (failures.size > 0) {
				return { lines: [], ...reportFailures(failures, "failed") };
			}
			const { ready, delayed, running, expired, failed, succeeded } = stats;
			queues.push({
				queue: name,
				pending: ready.jobs + delayed.jobs,
				running: running.jobs + expired.jobs,
				failed: failed.jobs,
				succeeded: succeeded.jobs,
			});
		}
		const left = queues.reduce(
			(sum, row) => sum + row.pending + row.running,
			0,
		);
		const empty = left === 0;
		const host = store.hostOf(shard);
		const problem = draining
			? `${plural(left, "job")} left to run`
			: 'it still takes new jobs: set "drain": true in the topology';
		return {
			value: { shard, host, draining, empty, queues },
			lines: [
				`shard ${shard} on ${host}: ${empty && draining ? "drained and empty" : problem}`,
				...table([
					["queue", "pending", "running", "failed", "succeeded"],
					...queues.map((row) => Object.values(row).map(String)),
				]),
			],
			code: empty && draining ? 0 : NOT_EMPTY,
		};
	},
});
