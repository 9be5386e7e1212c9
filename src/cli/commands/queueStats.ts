import { setTimeout as sleep } from "node:timers/promises";
import type { CorkboardError } from "../../errors.ts";
import type { JobStore } from "../../queue/jobStore.ts";
import { findQueue, listQueues } from "../../queue/queueAdmin.ts";
import { type Count, diskBytes, queueStats } from "../../queue/queueStats.ts";
import { isStopped } from "../../queue/rateLimit.ts";
import { printSetting, type QueueSettings } from "../../queue/settings.ts";
import { formatNumber } from "../../util/format.ts";
import {
	JSON_OPTION,
	type ParsedArguments,
	type Usage,
	UsageError,
} from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	failuresAsJson,
	formatAge,
	openQueuesForCommand,
	reportFailures,
} from "../queueCommand.ts";
import { table } from "../table.ts";

export const usage: Usage = {
	summary:
		"Counts the jobs of each queue, or of one: ready, delayed, running, failed.",
	operands: [],
	optionalOperands: ["QUEUE"],
	options: {
		watch: { description: "count again and again, until it is interrupted" },
		every: {
			value: "SECONDS",
			description: "with --watch: 1 to 60 (default 2)",
		},
		json: JSON_OPTION,
	},
	details:
		"A state is counted up to 100,000 jobs of each shard; a + says that there are more. MB are those of its files; – where a shard does not say. With --watch --json each count is one line.",
	exitCodes: { 1: "a shard does not answer, or an error" },
};

interface Counted {
	readonly rows: readonly StatsRow[];
	readonly failures: ReadonlyMap<number, CorkboardError>;
}

interface StatsRow {
	readonly name: string;
	readonly settings: QueueSettings;
	readonly stats: Awaited<ReturnType<typeof queueStats>>["stats"];
	readonly diskBytes: number | null;
}

export async function run(
	{ operands: [name], options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const everyMs = intervalOf(options.every);
	const isWatching = options.watch !== undefined;
	if (options.every !== undefined && !isWatching) {
		throw new UsageError("--every needs --watch.");
	}
	const isJson = options.json !== undefined;
	const signal = isWatching ? context.interruptSignal() : null;
	await using opened = await openQueuesForCommand(context, "readOnly");
	for (;;) {
		const counted = await count(opened.store, name);
		if (isJson) {
			const indent = isWatching ? undefined : "\t";
			context.stdout(JSON.stringify(asJson(counted), null, indent));
		} else {
			if (isWatching) context.stdout(new Date().toISOString());
			context.stdout(printed(counted).join("\n"));
		}
		const code = reportFailures(context, counted.failures);
		if (signal === null) return code;
		await sleep(everyMs, undefined, { signal }).catch(() => {});
		if (signal.aborted) return 0;
	}
}

async function count(
	store: JobStore,
	name: string | undefined,
): Promise<Counted> {
	const { queues, failures } =
		name === undefined
			? await listQueues(store)
			: { queues: [await findQueue(store, name)], failures: new Map() };
	const failed = new Map<number, CorkboardError>(failures);
	const rows: StatsRow[] = [];
	// One queue after the other: counting must not take the hosts from the workers.
	for (const { name: queue, settings } of queues) {
		const answer = await queueStats(store, queue);
		for (const [shard, error] of answer.failures) failed.set(shard, error);
		rows.push({
			name: queue,
			settings,
			stats: answer.stats,
			diskBytes: await diskBytes(store, queue),
		});
	}
	return { rows, failures: failed };
}

function printed({ rows }: Counted): readonly string[] {
	if (rows.length === 0) return ["no queues"];
	return table([
		[
			"queue",
			"ready",
			"oldest",
			"delayed",
			"running",
			"expired",
			"failed",
			"succeeded",
			"ended/min",
			"failed/min",
			"MB",
			"limits",
		],
		...rows.map(({ name, settings, stats, diskBytes }) => [
			name,
			shown(stats.ready),
			stats.oldestDueMs === null ? "–" : formatAge(stats.oldestDueMs),
			shown(stats.delayed),
			shown(stats.running),
			shown(stats.expired),
			shown(stats.failed),
			shown(stats.succeeded),
			shown(stats.succeededLastMinute),
			shown(stats.failedLastMinute),
			diskBytes === null ? "–" : (diskBytes / 1e6).toFixed(1),
			limits(settings),
		]),
	]);
}

function shown({ jobs, isCapped }: Count): string {
	return `${formatNumber(jobs)}${isCapped ? "+" : ""}`;
}

function limits(settings: QueueSettings): string {
	if (isStopped(settings)) return "paused";
	const { maxJobsPerSecond, maxRunning } = settings;
	return [
		...(maxJobsPerSecond === null
			? []
			: [`${printSetting("maxJobsPerSecond", settings)}/s`]),
		...(maxRunning === null ? [] : [`${maxRunning} running`]),
	].join(", ");
}

/** docs/commands.md describes this shape: scripts rely on it. */
function asJson({ rows, failures }: Counted) {
	return {
		at: new Date().toISOString(),
		queues: rows.map(({ name, settings, stats, diskBytes }) => {
			const { oldestDueMs, ...counts } = stats;
			const { maxJobsPerSecond, maxRunning, maxPending } = settings;
			return {
				name,
				paused: isStopped(settings),
				...counts,
				oldestDueMs: oldestDueMs && Math.round(oldestDueMs),
				diskBytes,
				maxJobsPerSecond,
				maxRunning,
				maxPending,
			};
		}),
		failures: failuresAsJson(failures),
	};
}

function intervalOf(text = "2"): number {
	const isNumber = /^[0-9]+(\.[0-9])?$/.test(text);
	if (!isNumber || Number(text) < 1 || Number(text) > 60) {
		throw new UsageError(`--every must be between 1 and 60, got ${text}.`);
	}
	return Number(text) * 1_000;
}
