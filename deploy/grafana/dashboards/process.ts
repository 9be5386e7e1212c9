import { areas, type Dashboard, graph } from "../panels.ts";

export const PROCESS: Dashboard = {
	name: "process",
	title: "processes",
	description: "CPU, memory, event loop, garbage.",
	panels: [
		graph(
			"CPU",
			"short",
			['rate(process_cpu_seconds_total{job="corkboard"}[$__rate_interval])'],
			{ about: "Cores." },
		),
		graph(
			"Event loop busy",
			"percentunit",
			[
				"rate(corkboard_event_loop_busy_seconds_total[$__rate_interval]) / corkboard_processes",
			],
			{ about: "At 1 a process has no time left.", max: 1 },
		),
		graph(
			"Event loop delay",
			"s",
			[
				[
					'nodejs_eventloop_lag_p99_seconds{job="corkboard"}',
					"{{instance}} p99",
				],
				[
					'nodejs_eventloop_lag_mean_seconds{job="corkboard"}',
					"{{instance}} mean",
				],
			],
			{ about: "Includes the resolution of 20 ms." },
		),
		graph(
			"Heap",
			"bytes",
			[
				['nodejs_heap_size_used_bytes{job="corkboard"}', "{{instance}} used"],
				["corkboard_heap_limit_bytes", "{{instance}} limit"],
				["corkboard_heap_live_bytes", "{{instance}} live"],
			],
			{ about: "live: after the last full collection, without garbage." },
		),
		graph("Memory", "bytes", [
			[
				'process_resident_memory_bytes{job="corkboard"}',
				"{{instance}} resident",
			],
			[
				'nodejs_external_memory_bytes{job="corkboard"}',
				"{{instance}} external",
			],
			["corkboard_memory_limit_bytes", "{{instance}} limit"],
		]),
		graph(
			"Memory taken",
			"percentunit",
			[
				[
					'nodejs_heap_size_used_bytes{job="corkboard"} / corkboard_heap_limit_bytes',
					"{{instance}} of the heap",
				],
				[
					'process_resident_memory_bytes{job="corkboard"} / corkboard_memory_limit_bytes',
					"{{instance}} of the memory",
				],
				[
					"corkboard_heap_live_bytes / corkboard_heap_limit_bytes",
					"{{instance}} of the heap live",
				],
			],
			{
				about: "live: after the last full collection, without garbage.",
				max: 1,
			},
		),
		areas(
			"Garbage collection",
			"percentunit",
			[
				'sum by (instance, kind) (rate(nodejs_gc_duration_seconds_sum{job="corkboard"}[$__rate_interval]))',
			],
			{ about: "Share of the time." },
		),
		graph("Processes", "short", ["corkboard_processes"]),
		graph("Running for", "s", ["time() - corkboard_started_timestamp_seconds"]),
	],
};
