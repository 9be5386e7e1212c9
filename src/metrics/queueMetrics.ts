import type { Registry } from "prom-client";
import { listen } from "../diagnostics.ts";
import { QUEUE_CHANNELS, QUEUE_LEVELS } from "../queue/diagnostics.ts";
import { JOB_OUTCOMES, WORKER_CHANNELS } from "../worker/diagnostics.ts";
import { JOB_SECONDS } from "./buckets.ts";
import { askingOnce, type Feeds } from "./feeds.ts";
import { Distributions, Values } from "./series.ts";

/** What this process enqueued, claimed and ran of jobs, and how many wait. */
export function queueMetrics(registry: Registry): Feeds {
	const enqueued = new Values(registry, "counter", {
		name: "corkboard_queue_enqueued_total",
		help: "Jobs that this process enqueued, by queue and result (added; merged: a pending job had the same key).",
		labels: ["queue", "result"],
	});
	const refused = new Values(registry, "counter", {
		name: "corkboard_queue_refused_total",
		help: "Jobs that this process did not enqueue, because the queue was full (maxPending).",
		labels: ["queue"],
	});
	const claims = new Values(registry, "counter", {
		name: "corkboard_queue_claims_total",
		help: "Claims of this process, by queue and result (claimed; empty: others were faster, or a limit let nothing start).",
		labels: ["queue", "result"],
	});
	const jobs = new Values(registry, "counter", {
		name: "corkboard_queue_jobs_total",
		help: "Starts of jobs that ended in this process, by queue and outcome (succeeded; retried: failed, and there is another attempt; failed: for good; later: asked for by the handler; released: given back; lost: the claim had ended, so that the job runs again).",
		labels: ["queue", "outcome"],
	});
	const expired = new Values(registry, "counter", {
		name: "corkboard_queue_expired_total",
		help: "Claims whose worker did not renew them in time, by queue and result (again: the job is pending again; failed: it had no attempt left). Counted by the process that finds them.",
		labels: ["queue", "result"],
	});
	const waits = new Distributions(registry, JOB_SECONDS, {
		name: "corkboard_queue_wait_seconds",
		help: "From the moment when a job was due to its start, by queue.",
		labels: ["queue"],
	});
	const runs = new Distributions(registry, JOB_SECONDS, {
		name: "corkboard_queue_run_seconds",
		help: "Time of one start of a job, by queue.",
		labels: ["queue"],
	});
	const problems = new Map<string, Map<number | null, boolean>>([
		["shard", new Map()],
		["renewals", new Map()],
	]);
	new Values(registry, "gauge", {
		name: "corkboard_worker_problem",
		help: "1 while the worker of this process cannot do a part of its work, by kind (shard: one cannot be asked for jobs; renewals: claims are not renewed).",
		aggregator: "max",
		labels: ["kind"],
		levels: () =>
			[...problems].map(([kind, states]) => [
				[...states.values()].includes(true) ? 1 : 0,
				kind,
			]),
	});
	levelMetrics(registry);
	/** From 0, because a rate misses the count with which a series begins. */
	const opened = new Set<string>();
	const open = (queue: string) => {
		if (opened.has(queue)) return;
		opened.add(queue);
		for (const outcome of JOB_OUTCOMES) jobs.at(queue, outcome);
		for (const result of ["again", "failed"]) expired.at(queue, result);
	};
	return [
		listen(QUEUE_CHANNELS.jobsEnqueued, ({ queue, added, merged }) => {
			enqueued.add(added, queue, "added");
			if (merged > 0) enqueued.add(merged, queue, "merged");
		}),
		listen(QUEUE_CHANNELS.jobsRefused, ({ queue, jobs: count }) => {
			refused.add(count, queue);
		}),
		listen(QUEUE_CHANNELS.jobsClaimed, ({ queue, jobs: count }) => {
			open(queue);
			claims.add(1, queue, count > 0 ? "claimed" : "empty");
		}),
		listen(WORKER_CHANNELS.jobEnded, ({ queue, outcome, waitMs, runMs }) => {
			open(queue);
			jobs.add(1, queue, outcome);
			if (runMs === null) return;
			waits.at(queue).observe(waitMs / 1_000);
			runs.at(queue).observe(runMs / 1_000);
		}),
		listen(WORKER_CHANNELS.jobsExpired, ({ queue, again, failed }) => {
			open(queue);
			expired.add(again, queue, "again");
			expired.add(failed, queue, "failed");
		}),
		listen(WORKER_CHANNELS.workerProblem, ({ kind, shard, error }) => {
			problems.get(kind)?.set(shard, error !== null);
		}),
	];
}

/** What waits, as the shards say. Every worker reports the same. */
function levelMetrics(registry: Registry): void {
	const levels = askingOnce(QUEUE_LEVELS);
	new Values(registry, "gauge", {
		name: "corkboard_queue_depth_jobs",
		help: "Jobs by queue and state (ready: due; delayed: due later; running; failed), up to 10,000 of each state and shard. Absent while a shard does not answer.",
		aggregator: "max",
		labels: ["queue", "state"],
		levels: async () =>
			(await levels()).flatMap(({ queue, jobs }) =>
				Object.entries(jobs).map(([state, count]) => [count, queue, state]),
			),
	});
	new Values(registry, "gauge", {
		name: "corkboard_queue_oldest_due_age_seconds",
		help: "For how long the job of a queue has been due that was due first; 0 where none is due.",
		aggregator: "max",
		labels: ["queue"],
		levels: async () =>
			(await levels()).map(({ queue, oldestMs }) => [oldestMs / 1_000, queue]),
	});
	new Values(registry, "gauge", {
		name: "corkboard_queue_paused",
		help: "1 for a queue that is paused, or whose rate is 0.",
		aggregator: "max",
		labels: ["queue"],
		levels: async () =>
			(await levels()).map(({ queue, isPaused }) => [isPaused ? 1 : 0, queue]),
	});
}
