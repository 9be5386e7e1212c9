import { areas, type Dashboard, graph, row, stat } from "../panels.ts";

export const OVERVIEW: Dashboard = {
	name: "overview",
	title: "overview",
	description: "What clients see, and where to look next.",
	panels: [
		stat(
			"Firing alerts",
			"short",
			'count(ALERTS{alertstate="firing",alertname=~"Corkboard.*"}) or vector(0)',
			{
				width: 3,
				about: "Each has a paragraph in docs/reference/alerts.md.",
				colors: { red: 1 },
			},
		),
		stat(
			"Requests",
			"reqps",
			"sum (rate(corkboard_requests_total[$__rate_interval]))",
			{ width: 4 },
		),
		stat(
			"Failed",
			"percentunit",
			'(sum(rate(corkboard_requests_total{outcome="failed"}[$__rate_interval])) or vector(0)) / sum(rate(corkboard_requests_total[$__rate_interval]))',
			{
				width: 3,
				about: "UNAVAILABLE or INTERNAL, perhaps of a part.",
				colors: { orange: 0.001, red: 0.01 },
			},
		),
		stat(
			"p99",
			"s",
			"histogram_quantile(0.99, sum by (le) (rate(corkboard_request_duration_seconds_bucket[$__rate_interval])))",
			{ width: 3, colors: { orange: 0.3, red: 1 } },
		),
		stat(
			"Databases down",
			"short",
			"count(min by (host) (corkboard_database_up) == 0) or vector(0)",
			{
				width: 4,
				about: "MySQL hosts that at least one server does not reach.",
				colors: { red: 1 },
			},
		),
		stat(
			"Caches down",
			"short",
			"count(min by (layer, host) (corkboard_cache_up) == 0) or vector(0)",
			{
				width: 4,
				about:
					"Hosts of memcached and Redis that at least one server does not reach.",
				colors: { red: 1 },
			},
		),
		stat(
			"Oldest outbox entry",
			"s",
			"max(corkboard_outbox_oldest_entry_age_seconds)",
			{ width: 3, colors: { orange: 5, red: 30 } },
		),
		graph(
			"Firing alerts by name",
			"short",
			[
				[
					'sum by (alertname, host, destination, layer, operation, instance) (ALERTS{alertstate="firing",alertname=~"Corkboard.*"})',
					"{{alertname}} {{layer}} {{host}} {{destination}} {{operation}} {{instance}}",
				],
			],
			{ about: "When which alert fired." },
		),
		areas(
			"Requests by outcome",
			"reqps",
			["sum by (outcome) (rate(corkboard_requests_total[$__rate_interval]))"],
			{
				about:
					"rejected: errors that the client can correct, or a limit. failed: UNAVAILABLE or INTERNAL.",
			},
		),
		graph("Latency", "s", [
			[
				"histogram_quantile(0.5, sum by (le) (rate(corkboard_request_duration_seconds_bucket[$__rate_interval])))",
				"p50",
			],
			[
				"histogram_quantile(0.95, sum by (le) (rate(corkboard_request_duration_seconds_bucket[$__rate_interval])))",
				"p95",
			],
			[
				"histogram_quantile(0.99, sum by (le) (rate(corkboard_request_duration_seconds_bucket[$__rate_interval])))",
				"p99",
			],
		]),
		row("Which one is different?"),
		graph(
			"CPU and event loop, by server",
			"percentunit",
			[
				[
					'rate(process_cpu_seconds_total{job="corkboard"}[$__rate_interval]) / corkboard_processes',
					"CPU {{instance}}",
				],
				[
					"rate(corkboard_event_loop_busy_seconds_total[$__rate_interval]) / corkboard_processes",
					"event loop {{instance}}",
				],
			],
			{
				about:
					"Of one process. The event loop near 1 with CPU near 0: the machine has no CPU for it (CorkboardStarved).",
			},
		),
		graph(
			"Hosts that a server does not reach",
			"short",
			[
				[
					"1 - corkboard_database_up > 0",
					"{{instance}} does not reach {{host}}",
				],
				[
					"1 - corkboard_cache_up > 0",
					"{{instance}} does not reach {{layer}} {{host}}",
				],
			],
			{
				about:
					"1 while it does not. One server alone: its link. Empty while all are reached.",
			},
		),
		graph(
			"Mean of a statement, by host",
			"s",
			[
				"sum by (host) (rate(corkboard_database_statement_duration_seconds_sum[$__rate_interval])) / sum by (host) (rate(corkboard_database_statement_duration_seconds_count[$__rate_interval]))",
			],
			{ about: "All hosts slow at once: look at CPU first." },
		),
		graph(
			"Failures and statements started again, by host",
			"ops",
			[
				"sum by (host, kind) (rate(corkboard_database_failures_total[$__rate_interval]))",
				[
					"sum by (host, reason) (rate(corkboard_database_retries_total[$__rate_interval]))",
					"{{host}} again: {{reason}}",
				],
			],
			{
				about:
					"Calls by kind of failure, and transactions by the reason for which they started again.",
			},
		),
		graph(
			"Not delivered, by destination",
			"ops",
			[
				"sum by (destination) (rate(corkboard_outbox_failures_total[$__rate_interval]))",
			],
			{ about: "Outbox entries that were tried and left." },
		),
		graph(
			"Memory taken, by server",
			"percentunit",
			[
				[
					'nodejs_heap_size_used_bytes{job="corkboard"} / corkboard_heap_limit_bytes',
					"heap {{instance}}",
				],
				[
					'process_resident_memory_bytes{job="corkboard"} / corkboard_memory_limit_bytes',
					"memory {{instance}}",
				],
			],
			{
				about:
					"Of the heap at which Node.js ends the process, and of the memory of its container.",
			},
		),
		areas("Errors by code", "reqps", [
			"sum by (code) (rate(corkboard_errors_total[$__rate_interval]))",
		]),
		areas(
			"Requests by way and document",
			"reqps",
			[
				[
					"sum by (way, document) (rate(corkboard_requests_total[$__rate_interval]))",
					"{{way}}, {{document}}",
				],
			],
			{
				about:
					"reused: a whole answer that was kept. short: past Fastify and Apollo. long: the rest.",
			},
		),
		areas("Turned away by limit", "reqps", [
			"sum by (limit) (rate(corkboard_refused_total[$__rate_interval]))",
		]),
		areas(
			"Operations by time",
			"s",
			[
				"topk(10, sum by (operation, document) (rate(corkboard_document_duration_seconds_total[$__rate_interval])))",
			],
			{
				about:
					"Seconds of requests in each second: the operations that keep the servers busy.",
			},
		),
		areas(
			"Operations by cost",
			"short",
			[
				"topk(10, sum by (operation, document) (rate(corkboard_document_cost_points_total[$__rate_interval])))",
			],
			{ about: "Points of cost in each second." },
		),
		graph(
			"Cost of one request, by operation",
			"short",
			[
				"topk(10, sum by (operation) (rate(corkboard_document_cost_points_total[$__rate_interval])) / sum by (operation) (rate(corkboard_document_requests_total[$__rate_interval])))",
				[
					"histogram_quantile(0.99, sum by (le) (rate(corkboard_request_cost_points_bucket[$__rate_interval])))",
					"p99 of all",
				],
			],
			{
				about:
					"An operation that suddenly costs more: a new version of its document, or larger pages.",
			},
		),
		graph("Time of one request, by operation", "s", [
			"topk(10, sum by (operation) (rate(corkboard_document_duration_seconds_total[$__rate_interval])) / sum by (operation) (rate(corkboard_document_requests_total[$__rate_interval])))",
		]),
		areas("Mutations", "ops", [
			"sum by (mutation, result) (rate(corkboard_mutations_total[$__rate_interval]))",
		]),
		graph("Time of a mutation", "s", [
			"sum by (mutation) (rate(corkboard_mutation_duration_seconds_total[$__rate_interval])) / sum by (mutation) (rate(corkboard_mutations_total[$__rate_interval]))",
		]),
		areas(
			"Writes started again, by mutation",
			"ops",
			[
				"sum by (mutation, reason) (rate(corkboard_mutation_retries_total[$__rate_interval]))",
			],
			{
				about:
					"deadlock, lockWait: another write of the same rows. shared: another write of the same database transaction failed.",
			},
		),
	],
};
