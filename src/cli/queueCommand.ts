import type { OpenQueues } from "../app/openQueues.ts";
import type { AccessMode } from "../app/openStore.ts";
import { readConfig } from "../config/config.ts";
import type { CorkboardError } from "../errors.ts";
import type { QueuedJob } from "../queue/changeJobs.ts";
import { formatJobId } from "../queue/jobId.ts";
import {
	type JobState,
	PRIORITIES,
	type Priority,
	STATE,
} from "../queue/jobStore.ts";
import { parseDuration } from "../queue/settings.ts";
import { quoted } from "../util/quoted.ts";
import { parseInteger } from "../util/settings.ts";
import { type Option, UsageError } from "./arguments.ts";
import type { CommandContext } from "./commandContext.ts";

/** What the commands of the group `queue` have in common. */

export const DRY_RUN_OPTION: Option = {
	description: "say what would be changed, and change nothing",
};

export const PRIORITY_OPTION: Option = {
	value: "N",
	values: PRIORITIES.map(String),
	description: "of one priority: 1 (taken first), 2 or 3",
};

export const MATCHING_OPTION: Option = {
	value: "TEXT",
	description:
		"only jobs whose body contains the text, upper and lower case as given",
};

export const JOB_STATES = Object.keys(STATE) as readonly JobState[];

/** Opens the shards of the queue. A server of an embedded data folder may run beside it. */
export async function openQueuesForCommand(
	context: CommandContext,
	access: AccessMode,
): Promise<OpenQueues> {
	const config = readConfig(context.env, { secret: "unneeded" });
	// Loaded on demand: the help does not need it.
	const { openQueues } = await import("../app/openQueues.ts");
	const queues = await openQueues(config, access);
	if (queues.topologyProblem !== null) {
		context.stderr(`corkboard: warning: ${queues.topologyProblem.message}`);
	}
	return queues;
}

/** Says on stderr which shards did not answer. Returns the exit code. */
export function reportFailures(
	context: CommandContext,
	failures: ReadonlyMap<number, CorkboardError>,
	effect = "is left out",
): number {
	for (const [shard, { message }] of failures) {
		context.stderr(`corkboard: shard ${shard} ${effect}: ${message}`);
	}
	return failures.size > 0 ? 1 : 0;
}

export function failuresAsJson(
	failures: ReadonlyMap<number, CorkboardError>,
): readonly { readonly shard: number; readonly reason: string }[] {
	return [...failures].map(([shard, { message }]) => ({
		shard,
		reason: message,
	}));
}

export function priorityOf(text: string | undefined): Priority | undefined {
	if (text === undefined) return undefined;
	const priority = PRIORITIES.find((one) => String(one) === text);
	if (priority !== undefined) return priority;
	throw new UsageError(`--priority must be 1, 2 or 3, got ${quoted(text)}.`);
}

export function stateOf(
	text: string,
	states: readonly JobState[] = JOB_STATES,
): JobState {
	const state = states.find((one) => one === text);
	if (state !== undefined) return state;
	throw new UsageError(
		`--state must be ${states.join(", ")}, got ${quoted(text)}.`,
	);
}

/** Throws a usage error that names the option. */
export function countOf(
	name: string,
	text: string | undefined,
	most: number,
): number | undefined {
	if (text === undefined) return undefined;
	const count = parseInteger(text, 1, most);
	if (count !== undefined) return count;
	throw new UsageError(
		`--${name} must be a whole number from 1 to ${most}, got ${quoted(text)}.`,
	);
}

/** Milliseconds. Throws a usage error that names the option. */
export function durationOf(
	name: string,
	text: string | undefined,
): number | undefined {
	if (text === undefined) return undefined;
	const ms = parseDuration(text);
	if (ms !== undefined) return ms;
	throw new UsageError(
		`--${name} must be a duration, such as 90s, 15m, 24h or 7d, got ${quoted(text)}.`,
	);
}

/** The keys of an object whose values are not undefined, for optional properties. */
export function given<T extends object>(
	options: T,
): { [K in keyof T]?: Exclude<T[K], undefined> } {
	return Object.fromEntries(
		Object.entries(options).filter(([, value]) => value !== undefined),
	) as { [K in keyof T]?: Exclude<T[K], undefined> };
}

/** A job as JSON: docs/commands.md describes the shape. */
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
