import { type Dashboard, graph } from "../panels.ts";

export const ROTATION: Dashboard = {
	name: "rotation",
	title: "rotation of queues",
	description:
		"How the disk of finished jobs is given back, and what that costs the jobs that wait.",
	alertLabels: ["queue", "shard", "instance"],
	panels: [
		graph(
			"Statements on jobs may have waited",
			"s",
			[
				[
					"histogram_quantile(0.99, sum by (queue, le) (rate(corkboard_queue_ddl_stall_seconds_bucket[$__rate_interval])))",
					"{{queue}} p99",
				],
			],
			{ about: "For a statement of rotation that changes the table of jobs." },
		),
		graph(
			"Given back",
			"Bps",
			[
				"sum by (queue) (rate(corkboard_queue_rotation_freed_bytes_total[$__rate_interval]))",
			],
			{ about: "Bytes of files." },
		),
		graph(
			"Held",
			"bytes",
			["max by (queue, shard) (corkboard_queue_held_bytes)"],
			{
				about:
					"Files of finished jobs that stay because too many jobs in them are to be kept.",
			},
		),
		graph(
			"Moved jobs",
			"ops",
			[
				"sum by (queue) (rate(corkboard_queue_rotation_moved_jobs_total[$__rate_interval]))",
			],
			{
				about:
					"Jobs to be kept that left a span so that the rest could be given back.",
			},
		),
		graph(
			"Refused for",
			"s",
			["max by (queue, shard) (corkboard_queue_rotation_refused_seconds)"],
			{
				about:
					"Somebody else uses the table of jobs: a dump, or a transaction that is left open.",
			},
		),
		graph(
			"Failed rounds",
			"ops",
			[
				"sum by (queue) (rate(corkboard_queue_rotation_failures_total[$__rate_interval]))",
			],
			{ about: "Rounds that ended with an error. The log says which." },
		),
	],
};
