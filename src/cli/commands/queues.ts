import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import { drainQueueShard } from "../../fleet/map/edits.ts";
import { existing } from "../../fleet/map/publish.ts";
import { graphJobs } from "../../ops/jobs/jobs.ts";
import {
	createQueue,
	deleteQueue,
	findQueue,
	listQueues,
	type QueueOnShards,
} from "../../queue/admin/queueAdmin.ts";
import {
	type Count,
	diskBytes,
	queueStats,
} from "../../queue/admin/queueStats.ts";
import type { JobAdmin, JobStore, ShardOfQueue } from "../../queue/jobStore.ts";
import { isStopped } from "../../queue/rateLimit.ts";
import {
	planRotation,
	type RotationReport,
	rotate,
} from "../../queue/rotation.ts";
import {
	DEFAULT_SETTINGS,
	expectedOf,
	printSetting,
	type QueueSettings,
	SETTING_NAMES,
} from "../../queue/settings.ts";
import { compact } from "../../util/compact.ts";
import { formatNumber, plural } from "../../util/format.ts";
import { parseList } from "../../util/parseList.ts";
import { codeOfInterrupt, INTERRUPTED, UsageError } from "../arguments.ts";
import {
	argument,
	command,
	DRY_RUN_FLAG,
	flag,
	many,
	option,
	optional,
	type Result,
} from "../command.ts";
import type { CommandContext } from "../commandContext.ts";
import { createProgressLine } from "../progress.ts";
import {
	accessOf,
	failuresAsJson,
	formatAge,
	openQueuesForCommand,
	reportFailures,
} from "../queue/queueCommand.ts";
import {
	changeQueueSettings,
	SETTINGS_OPTIONS,
	setAndPrint,
} from "../queue/queueSettings.ts";
import { table } from "../table.ts";
import { publishForCommand } from "../topologyCommand.ts";
import { duration } from "../values.ts";

const list = command({
	summary: "Prints the queues and their settings, or all settings of one.",
	isWatched: true,
	arguments: { queue: optional("QUEUE") },
	details:
		"Without QUEUE it prints the settings that differ from the defaults. queues stats prints how many jobs there are.",
	exitCodes: { 1: "a shard does not answer, or an error" },
	async run({ queue }, context) {
		await using opened = await openQueuesForCommand(context, "readOnly");
		const { queues, failures } = await listQueues(opened.store);
		const named = queues.find(({ name }) => name === queue);
		if (queue !== undefined && named === undefined) {
			throw new CorkboardError(
				"NOT_FOUND",
				`There is no queue ${JSON.stringify(queue)}. Queues: ${queues.map((one) => one.name).join(", ") || "none"}.`,
			);
		}
		const chosen = named === undefined ? queues : [named];
		return {
			value: {
				shards: opened.store.shards.length,
				queues: chosen.map(asJson),
				failures: failuresAsJson(failures),
			},
			lines: named === undefined ? queueLines(queues) : settingLines(named),
			...reportFailures(failures),
		};
	},
});

function queueLines(queues: readonly QueueOnShards[]): readonly string[] {
	return queues.length === 0
		? ["no queues"]
		: table([["queue", "state", "settings", "shards"], ...queues.map(row)]);
}

function stateOf({ state, settings }: QueueOnShards): string {
	if (state === "deleting") return "being deleted";
	return isStopped(settings) ? "paused" : "active";
}

function row(queue: QueueOnShards): readonly string[] {
	const { name, settings, set, missingOn, olderOn } = queue;
	return [
		name,
		stateOf(queue),
		SETTING_NAMES.filter((one) => Object.hasOwn(set, one))
			.map((one) => `${one}=${printSetting(one, settings)}`)
			.join(" "),
		compact([
			missingOn.length > 0 &&
				`missing on ${missingOn.join(", ")}: run queues create ${name}`,
			olderOn.length > 0 && `older settings on ${olderOn.join(", ")}`,
		]).join("; "),
	];
}

function settingLines({ settings, set }: QueueOnShards): readonly string[] {
	return table([
		["setting", "value", "default", "takes"],
		...SETTING_NAMES.map((name) => [
			name,
			printSetting(name, settings),
			Object.hasOwn(set, name) ? printSetting(name, DEFAULT_SETTINGS) : "",
			expectedOf(name),
		]),
	]);
}

function asJson(queue: QueueOnShards) {
	const { name, settings, set, version, missingOn, olderOn } = queue;
	return {
		name,
		state: queue.state === "deleting" ? "deleting" : stateOf(queue),
		settings,
		set: Object.keys(set),
		version,
		missingOn,
		olderOn,
	};
}

const stats = command({
	summary:
		"Counts the jobs of each queue, or of one: ready, delayed, running, failed.",
	arguments: { queue: optional("QUEUE") },
	isWatched: true,
	details:
		"Each state is counted up to 100,000 jobs of each shard; a + says that there are more. 12/min says how many ended so in the last minute. MB is the size of the queue's files, and – means that a shard does not say.",
	exitCodes: { 1: "a shard does not answer, or an error" },
	async run({ queue }, context) {
		await using opened = await openQueuesForCommand(context, "readOnly");
		const counted = await count(opened.store, queue);
		return {
			value: asJsonOfStats(counted),
			lines: printed(counted),
			...reportFailures(counted.failures),
		};
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
			withRate(stats.failed, stats.failedLastMinute),
			withRate(stats.succeeded, stats.succeededLastMinute),
			diskBytes === null ? "–" : (diskBytes / 1e6).toFixed(1),
			limits(settings),
		]),
	]);
}

/** `1,203, 12/min`, or `1,203` if none was in the last minute. */
function withRate(all: Count, lastMinute: Count): string {
	return lastMinute.jobs === 0
		? shown(all)
		: `${shown(all)}, ${shown(lastMinute)}/min`;
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
function asJsonOfStats({ rows, failures }: Counted) {
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

const create = command({
	summary: "Creates a queue on every shard that does not have it.",
	arguments: { queue: argument("QUEUE") },
	options: {
		set: option(
			"NAME=VALUE,…",
			"settings, as queues set takes them, separated by commas",
			"",
		),
	},
	details:
		"A name is a small letter and up to 39 letters and digits. Run it again after a shard did not answer, or after the topology got more shards.",
	async run({ queue, set }, context) {
		await using opened = await openQueuesForCommand(context, "readWrite");
		const { store } = opened;
		await store.createTables();
		const created = await createQueue(store, queue, parseList(set));
		const shards = store.shards.length;
		return {
			value: { queue, created, shards },
			lines: [
				`${queue} ${created ? "created" : "is there already"}, on ${plural(shards, "shard")}`,
			],
		};
	},
});

const set = command({
	summary: "Changes settings of a queue; workers apply them within a second.",
	arguments: {
		queue: argument("QUEUE"),
		values: many("NAME=VALUE"),
	},
	...SETTINGS_OPTIONS,
	details:
		"NAME=default returns to the default. queues list QUEUE prints the settings and what each takes; docs/how-to/queue.md explains them.",
	run: setAndPrint,
});

const pause = changeQueueSettings({
	summary: "Pauses a queue: within a second no job of it starts any more.",
	details:
		"Jobs that run are finished, and new jobs are accepted. queues resume undoes it; a rate limit stays as it is.",
	values: ["paused=true"],
});

const resume = changeQueueSettings({
	summary: "Lets the jobs of a paused queue start again, within a second.",
	details:
		"A queue with maxJobsPerSecond=0 runs nothing: raise that with queues set.",
	values: ["paused=default"],
});

/** The server did not let the table be changed. */
const REFUSED = 3;

const rotateQueues = command({
	summary:
		"Gives back the disk of finished jobs now, which workers do every three minutes.",
	arguments: { queue: optional("QUEUE") },
	options: { dryRun: DRY_RUN_FLAG },
	details:
		"Prints each span of the past, what becomes of it, and why. No job that is to be kept is lost, even if this is interrupted.",
	exitCodes: {
		1: "a shard does not answer, or an error",
		3: "somebody else uses the table, so it was not changed; workers try again",
	},
	async run({ queue, dryRun }, context) {
		await using opened = await openQueuesForCommand(context, accessOf(dryRun));
		const { store } = opened;
		const { queues, failures } =
			queue === undefined
				? await listQueues(store)
				: { queues: [await findQueue(store, queue)], failures: new Map() };
		const failed = new Map<number, CorkboardError>(failures);
		const rows: Row[] = [];
		for (const { name, settings, state, missingOn } of queues) {
			if (state === "deleting") continue;
			for (const shard of store.shards) {
				if (failed.has(shard) || missingOn.includes(shard)) continue;
				const at = { queue: name, shard };
				try {
					const done = dryRun
						? {
								spans: await planRotation(store, at, settings),
								bytes: 0,
								moved: 0,
								refused: null,
							}
						: await rotate(store, at, settings);
					rows.push({ ...at, ...done });
				} catch (error) {
					if (!(error instanceof CorkboardError)) throw error;
					failed.set(shard, error);
				}
			}
		}
		const { notes, code } = reportFailures(failed);
		const isRefused = rows.some(({ refused }) => refused !== null);
		return {
			value: {
				dryRun,
				queues: rows.map(asJsonOfRotate),
				failures: failuresAsJson(failed),
			},
			lines: printedOfRotate(rows, dryRun),
			notes,
			code: code === 0 && isRefused ? REFUSED : code,
		};
	},
});

interface Row
	extends ShardOfQueue,
		Pick<RotationReport, "spans" | "bytes" | "moved" | "refused"> {}

function printedOfRotate(
	rows: readonly Row[],
	isDryRun: boolean,
): readonly string[] {
	const spans = rows.flatMap(({ queue, shard, spans }) =>
		spans.map((span) => [
			queue,
			String(shard),
			hourText(span.bucket),
			megabytes(span.bytes),
			span.decision,
			span.why,
		]),
	);
	const lines =
		spans.length === 0
			? ["no spans of the past"]
			: table([
					["queue", "shard", "due until", "MB", "decision", "why"],
					...spans,
				]);
	if (isDryRun) return lines;
	return [
		...lines,
		...rows
			.filter(({ bytes, moved }) => bytes + moved > 0)
			.map(
				({ queue, shard, bytes, moved }) =>
					`${queue} on shard ${shard}: ${megabytes(bytes)} MB given back, ${formatNumber(moved)} jobs moved`,
			),
		...rows.flatMap(({ queue, shard, refused }) =>
			refused === null ? [] : [`${queue} on shard ${shard}: ${refused}`],
		),
	];
}

function asJsonOfRotate({ queue, shard, spans, bytes, moved, refused }: Row) {
	return {
		queue,
		shard,
		bytes,
		moved,
		refused,
		spans: spans.map(({ bucket, rows, decision, why, ...span }) => ({
			dueUntil: hourText(bucket),
			decision,
			why,
			bytes: span.bytes,
			jobs: rows,
			kept: {
				pending: span.pending,
				running: span.running,
				succeeded: span.succeeded,
				failed: span.failed,
			},
		})),
	};
}

/** The end of the hour. */
function hourText(bucket: number): string {
	return new Date((bucket + 1) * 3_600_000).toISOString();
}

function megabytes(bytes: number): string {
	return (bytes / 1_000_000).toFixed(1);
}

/** There are jobs left. */
const NOT_EMPTY = 3;
const DRAIN_EVERY_MS = 2_000;

const drain = command({
	summary:
		"Closes a shard of the queue for new jobs, and waits until it has none left to run.",
	arguments: { shard: argument("SHARD") },
	options: {
		check: flag("only say whether it is drained: close nothing, do not wait"),
		timeout: option(
			duration(1_000),
			"how long to wait (default: until it is empty or interrupted)",
		),
		every: option(
			duration(100, 60_000),
			"how often to count what is left (default 2s)",
			DRAIN_EVERY_MS,
		),
		dryRun: DRY_RUN_FLAG,
	},
	details:
		'It publishes the topology with "drain": true for this shard (an embedded folder cannot do this): new jobs then go to other shards. Workers, which must run, empty this one. When it is empty, its range can leave the topology. Finished jobs go with it. It can be interrupted and run again.',
	exitCodes: {
		0: "it is drained and empty",
		3: "it is not drained, or has jobs that are pending or running",
		...INTERRUPTED,
	},
	async run({ check, timeout, every, dryRun, json, ...given }, context) {
		const first = await lookAt(context, given.shard);
		if ("failures" in first) return { lines: [], ...first.failures };
		if (check || dryRun || (first.draining && first.empty)) {
			return drained(first, dryRun && !first.draining);
		}
		if (!first.draining) {
			const { lines } = await publishForCommand(
				context,
				{ dryRun: false, unchecked: true },
				{
					edit: existing((now) => drainQueueShard(now, first.shard)),
					why: `drain queue shard ${first.shard}`,
				},
			);
			for (const line of json ? [] : lines) context.stderr(line);
		}
		const signal = context.interruptSignal();
		const until = performance.now() + (timeout ?? Number.POSITIVE_INFINITY);
		const progress = createProgressLine(context);
		for (;;) {
			const now = await lookAt(context, given.shard);
			if ("failures" in now) return { lines: [], ...now.failures };
			const isOver = now.draining && now.empty;
			if (isOver || performance.now() >= until || signal.aborted) {
				progress.end();
				const result = drained(now, false);
				return signal.aborted && !isOver
					? { ...result, code: codeOfInterrupt(signal) }
					: result;
			}
			if (!json) progress.update(`${plural(now.left, "job")} left to run`);
			await sleep(every, undefined, { signal }).catch(() => {});
		}
	},
});

const OWN_QUEUES: ReadonlySet<string> = new Set(
	graphJobs.map(({ queue }) => queue),
);

const remove = command({
	summary: "Deletes a queue with all its jobs, for good.",
	arguments: { queue: argument("QUEUE") },
	options: {
		confirm: option("QUEUE", "the name once more"),
		force: flag(
			"delete it even if jobs are pending or running, or if Corkboard itself enqueues into it",
		),
		dryRun: DRY_RUN_FLAG,
	},
	details:
		"If it is interrupted, or a shard does not answer, run it again: the queue counts as being deleted until then.",
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

/** How far a shard of the queue is drained. Throws UsageError. */
async function lookAt(context: CommandContext, given: string) {
	await using opened = await openQueuesForCommand(context, "readOnly");
	const { store } = opened;
	const shard = store.shards.find((one) => String(one) === given);
	if (shard === undefined) {
		throw new UsageError(
			`SHARD must be a shard of the queue: ${store.shards.join(", ")}. Got ${JSON.stringify(given)}.`,
		);
	}
	const { queues: all } = await listQueues(store);
	const queues = [];
	for (const { name } of all) {
		const { stats, failures } = await queueStats(store, name, [shard]);
		if (failures.size > 0) {
			return { failures: reportFailures(failures, "failed") };
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
	const left = queues.reduce((sum, row) => sum + row.pending + row.running, 0);
	return {
		shard,
		host: store.hostOf(shard),
		left,
		queues,
		draining: !store.openShards.includes(shard),
		empty: left === 0,
	};
}

function drained(
	{
		shard,
		host,
		left,
		queues,
		draining,
		empty,
	}: Exclude<
		Awaited<ReturnType<typeof lookAt>>,
		{ readonly failures: unknown }
	>,
	wouldClose: boolean,
): Result {
	const problem = draining
		? `${plural(left, "job")} left to run`
		: `it still takes new jobs${wouldClose ? ", and would be closed for them" : ""}; ${plural(left, "job")} left to run`;
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
}

export const verbs = {
	list,
	stats,
	create,
	set,
	pause,
	resume,
	rotate: rotateQueues,
	drain,
	delete: remove,
};
