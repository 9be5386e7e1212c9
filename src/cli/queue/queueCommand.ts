import type { OpenQueues } from "../../app/openQueues.ts";
import type { AccessMode } from "../../app/openStore.ts";
import { readConfig } from "../../config/config.ts";
import type { CorkboardError } from "../../errors.ts";
import type { QueuedJob } from "../../queue/admin/changeJobs.ts";
import { formatJobId } from "../../queue/jobId.ts";
import {
	type JobState,
	PRIORITIES,
	type Priority,
	STATE,
} from "../../queue/jobStore.ts";
import { option } from "../command.ts";
import type { CommandContext } from "../commandContext.ts";
import { mapped, oneOf } from "../values.ts";

/** What the commands about queues and jobs have in common. */

export const PRIORITY = option(
	mapped(
		oneOf("N", PRIORITIES.map(String)),
		(given) => Number(given) as Priority,
	),
	"of one priority: 1 (taken first), 2 or 3",
);

export const MATCHING = option(
	"TEXT",
	"only jobs whose body contains the text, upper and lower case as given",
);

export const JOB_STATES = Object.keys(STATE) as readonly JobState[];

/** Opens the shards of the queue. A server of an embedded data folder may run beside it. */
export async function openQueuesForCommand(
	context: CommandContext,
	access: AccessMode,
): Promise<OpenQueues> {
	const config = readConfig(context.env, { secret: "unneeded" });
	// Loaded on demand: the help does not need it.
	const { openQueues } = await import("../../app/openQueues.ts");
	const queues = await openQueues(config, access);
	if (queues.topologyProblem !== null) {
		context.stderr(`corkboard: warning: ${queues.topologyProblem.message}`);
	}
	return queues;
}

/** A dry run reads only. */
export function accessOf(dryRun: boolean): AccessMode {
	return dryRun ? "readOnly" : "readWrite";
}

/** Which shards did not answer, and the exit code. */
export function reportFailures(
	failures: ReadonlyMap<number, CorkboardError>,
	effect = "is left out",
): { readonly notes: readonly string[]; readonly code: number } {
	return {
		notes: [...failures].map(
			([shard, { message }]) =>
				`corkboard: shard ${shard} ${effect}: ${message}`,
		),
		code: failures.size > 0 ? 1 : 0,
	};
}

export function failuresAsJson(
	failures: ReadonlyMap<number, CorkboardError>,
): readonly { readonly shard: number; readonly reason: string }[] {
	return [...failures].map(([shard, { message }]) => ({
		shard,
		reason: message,
	}));
}

/** A job as JSON: docs/reference/commands-json.md describes the shape. */
export function jobAsJson(job: QueuedJob) {
	const { queue, shard, bucket, local, state, priority, at } = job;
	const time = dateOf(at);
	return {
		id: formatJobId({ queue, shard, bucket, local }),
		queue,
		shard,
		state,
		priority,
		createdAt: dateOf(job.createdAt),
		dueAt: state === "pending" ? time : null,
		claimEndsAt: state === "running" ? time : null,
		endedAt: state === "succeeded" || state === "failed" ? time : null,
		attempts: job.attempts,
		allowed: job.allowed,
		key: job.key,
		status: job.status === "" ? [] : job.status.split("\n"),
		body: job.body,
	};
}

export type PrintedJob = ReturnType<typeof jobAsJson>;

/** ISO 8601, of microseconds. */
export function dateOf(us: number): string {
	return new Date(us / 1_000).toISOString();
}

/** When it is due, its claim ends, or it ended. */
export function timeOf(job: PrintedJob): string {
	return job.dueAt ?? job.claimEndsAt ?? job.endedAt ?? "";
}

/** `3.2 s`, `4 min`, `2.5 h`, `3 d`. */
export function formatAge(ms: number): string {
	const units = [
		["d", 172_800_000, 86_400_000],
		["h", 7_200_000, 3_600_000],
		["min", 120_000, 60_000],
		["s", 0, 1_000],
	] as const;
	for (const [unit, from, size] of units) {
		if (ms >= from) {
			const value = ms / size;
			return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
		}
	}
	return "0 s";
}
