import { areas, type Dashboard, graph } from "../panels.ts";

export const QUEUE: Dashboard = {
	name: "queue",
	title: "queue",
	description: "Jobs that wait, run and end, by queue.",
	alertLabels: ["queue", "instance"],
	panels: [
		graph(
			"Oldest due",
			"s",
			["max by (queue) (corkboard_queue_oldest_due_age_seconds)"],
			{
				about:
					"For how long the job has been due that was due first. Of a paused queue it grows.",
			},
		),
		graph(
			"Ready",
			"short",
			['max by (queue) (corkboard_queue_depth_jobs{state="ready"})'],
			{ about: "Due, and not started. Up to 10,000 of each shard." },
		),
		graph(
			"Other states",
			"short",
			['max by (queue, state) (corkboard_queue_depth_jobs{state!="ready"})'],
			{ about: "Delayed, running and failed jobs." },
		),
		graph("Ended, by outcome", "ops", [
			"sum by (queue, outcome) (rate(corkboard_queue_jobs_total[$__rate_interval]))",
		]),
		areas(
			"Enqueued",
			"ops",
			[
				"sum by (queue, result) (rate(corkboard_queue_enqueued_total[$__rate_interval]))",
			],
			{ about: "merged: into a pending job with the same key." },
		),
		graph(
			"Refused",
			"ops",
			[
				"sum by (queue) (rate(corkboard_queue_refused_total[$__rate_interval]))",
			],
			{ about: "The queue was full (maxPending)." },
		),
		graph(
			"Wait, p50 and p99",
			"s",
			[
				[
					"histogram_quantile(0.5, sum by (queue, le) (rate(corkboard_queue_wait_seconds_bucket[$__rate_interval])))",
					"{{queue}} p50",
				],
				[
					"histogram_quantile(0.99, sum by (queue, le) (rate(corkboard_queue_wait_seconds_bucket[$__rate_interval])))",
					"{{queue}} p99",
				],
			],
			{ about: "From due to start." },
		),
		graph(
			"Run, p95",
			"s",
			[
				"histogram_quantile(0.95, sum by (queue, le) (rate(corkboard_queue_run_seconds_bucket[$__rate_interval])))",
			],
			{ about: "One start." },
		),
		graph(
			"Claims lost",
			"ops",
			[
				[
					"sum by (queue) (rate(corkboard_queue_expired_total[$__rate_interval]))",
					"{{queue}} expired",
				],
				[
					'sum by (queue) (rate(corkboard_queue_jobs_total{outcome="lost"}[$__rate_interval]))',
					"{{queue}} lost",
				],
			],
			{ about: "These jobs run again." },
		),
		graph(
			"Empty claims",
			"percentunit",
			[
				'sum by (queue) (rate(corkboard_queue_claims_total{result="empty"}[$__rate_interval])) / sum by (queue) (rate(corkboard_queue_claims_total[$__rate_interval]))',
			],
			{ about: "Others were faster, or a limit let nothing start." },
		),
		graph("Paused", "short", ["max by (queue) (corkboard_queue_paused)"]),
		graph(
			"Worker problems",
			"short",
			["max by (instance, kind) (corkboard_worker_problem)"],
			{
				about:
					"shard: it cannot be asked for jobs. renewals: claims are not renewed.",
			},
		),
	],
};
