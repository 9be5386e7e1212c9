import { setTimeout as sleep } from "node:timers/promises";
import type { CorkboardError } from "../../errors.ts";
import { findQueue, listQueues } from "../../queue/admin/queueAdmin.ts";
import {
	type Count,
	diskBytes,
	queueStats,
} from "../../queue/admin/queueStats.ts";
import type { JobAdmin, JobStore } from "../../queue/jobStore.ts";
import { isStopped } from "../../queue/rateLimit.ts";
import { printSetting, type QueueSettings } from "../../queue/settings.ts";
import { compact } from "../../util/compact.ts";
import { formatNumber } from "../../util/format.ts";
import { UsageError } from "../arguments.ts";
import { command, flag, option, optional } from "../command.ts";
import {
	failuresAsJson,
	formatAge,
	openQueuesForCommand,
	reportFailures,
} from "../queue/queueCommand.ts";
import { table } from "../table.ts";
import { duration } from "../values.ts";

const EVERY_MS = 2_000;

export const { usage, run } = command({
	summary:
		"Counts the jobs of each queue, or of one: ready, delayed, running, failed.",
	arguments: { queue: optional("QUEUE") },
	options: {
		watch: flag("count again and again, until it is interrupted"),
		every: option(
			duration(1_000, 60_000),
			"with --watch: 1s to 60s (default 2s)",
		),
	},
	details:
		"A state is counted up to 100,000 jobs of each shard; a + says that there are more. MB are those of its files; – where a shard does not say. With --watch --json each count is one line.",
	exitCodes: { 1: "a shard does not answer, or an error" },
	async run({ queue, watch, every, json }, context) {
		if (every !== undefined && !watch) {
			throw new UsageError("--every needs --watch.");
		}
		const signal = watch ? context.interruptSignal() : null;
		await using opened = await openQueuesForCommand(context, "readOnly");
		for (;;) {
			const counted = await count(opened.store, queue);
			const { notes, code } = reportFailures(counted.failures);
			if (signal === null) {
				return { value: asJson(counted), lines: printed(counted), notes, code };
			}
			context.stdout(
				json
					? JSON.stringify(asJson(counted))
					: [new Date().toISOString(), ...printed(counted)].join("\n"),
			);
			for (const note of notes) context.stderr(note);
			await sleep(every ?? EVERY_MS, undefined, { signal }).catch(() => {});
			if (signal.aborted) return 0;
		}
	},
});

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

async function count(
	store: JobStore & JobAdmin,
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
	return compact([
		maxJobsPerSecond !== null &&
			`${printSetting("maxJobsPerSecond", settings)}/s`,
		maxRunning !== null && `${maxRunning} running`,
	]).join(", ");
}

/** docs/reference/commands-json.md describes this shape: scripts rely on it. */
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
