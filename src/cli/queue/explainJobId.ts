import { readConfiguredTopology } from "../../app/openTopology.ts";
import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import { HOUR_US } from "../../queue/bucket.ts";
import { createdAtOf, formatJobId, type JobId } from "../../queue/jobId.ts";
import { hostInRanges, queuesOf } from "../../topology/ranges.ts";
import { columns } from "../arguments.ts";
import type { Result } from "../command.ts";
import type { CommandContext } from "../commandContext.ts";
import { dateOf, openQueuesForCommand } from "./queueCommand.ts";

/** What `id` prints of the id of a job. */
export async function explainJobId(
	id: JobId,
	context: CommandContext,
): Promise<Result> {
	const { queue, shard, bucket, local } = id;
	const config = readConfig(context.env, { secret: "unneeded" });
	const host = hostInRanges(
		queuesOf(await readConfiguredTopology(config)),
		shard,
	);
	const found = host === null ? MISSING : await stateOf(id, context);
	const described = {
		id: formatJobId(id),
		queue,
		shard,
		localId: local,
		table: `queue${String(shard).padStart(5, "0")}.jobs_${queue}`,
		host,
		createdAt: dateOf(createdAtOf(local) * 1_000),
		dueHour: dateOf(bucket * HOUR_US),
		job: found,
	};
	const rows: (readonly [string, string])[] = [
		["id", described.id],
		["queue", queue],
		["shard", String(shard)],
		["local id", local],
		["table", described.table],
		["host", host ?? `none: the topology has no queue shard ${shard}`],
		["made", described.createdAt],
		["due from", `${described.dueHour}, when it was enqueued`],
		[
			"job",
			found.reason === null ? found.state : `${found.state}: ${found.reason}`,
		],
	];
	return {
		value: described,
		lines: columns(rows).map((line) => line.trimStart()),
	};
}

const MISSING = { state: "missing", reason: null } as const;

/** The state of the job; `missing` if there is none, `unknown` if its shard does not answer. */
async function stateOf(
	{ queue, shard, ...key }: JobId,
	context: CommandContext,
): Promise<{ readonly state: string; readonly reason: string | null }> {
	try {
		await using opened = await openQueuesForCommand(context, "readOnly");
		const [job = null] = await opened.store.find({ queue, shard }, [key]);
		return job === null ? MISSING : { state: job.state, reason: null };
	} catch (error) {
		if (!(error instanceof CorkboardError)) throw error;
		return error.code === "NOT_FOUND"
			? MISSING
			: { state: "unknown", reason: error.message };
	}
}
