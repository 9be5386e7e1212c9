import { areas, type Dashboard, graph } from "../panels.ts";

export const CACHES: Dashboard = {
	name: "caches",
	title: "caches",
	description:
		"memcached and Redis, the caches in the processes, and the plans.",
	panels: [
		graph(
			"Shared caches that answer",
			"short",
			["min by (layer, host) (corkboard_cache_up)"],
			{ about: "0 where at least one server gets no answer.", max: 1 },
		),
		graph(
			"Processes that bypass their own cache",
			"short",
			["sum by (reason) (corkboard_cache_bypassed)"],
			{
				about:
					"channel: without the subscription to Redis. outboxes: of some shards.",
			},
		),
		graph(
			"Hits, of what is read from shared caches",
			"percentunit",
			[
				'sum by (layer) (rate(corkboard_cache_reads_total{result="hit"}[$__rate_interval])) / sum by (layer) (rate(corkboard_cache_reads_total[$__rate_interval]))',
			],
			{ max: 1 },
		),
		areas(
			"Reads of shared caches",
			"ops",
			[
				"sum by (layer, result) (rate(corkboard_cache_reads_total[$__rate_interval]))",
			],
			{
				about:
					"busy: waits 20 ms for who fills or writes the key. down: read from the shards.",
			},
		),
		areas(
			"Fills",
			"ops",
			[
				"sum by (layer, result) (rate(corkboard_cache_fills_total[$__rate_interval]))",
			],
			{ about: "refused: a write was faster, or the host has no room." },
		),
		graph(
			"Batch, p99",
			"s",
			[
				"histogram_quantile(0.99, sum by (layer, host, le) (rate(corkboard_cache_call_duration_seconds_bucket[$__rate_interval])))",
			],
			{ about: "A batch has 100 ms." },
		),
		areas("Batches", "ops", [
			"sum by (layer, verb, result) (rate(corkboard_cache_calls_total[$__rate_interval]))",
		]),
		areas("Keys", "ops", [
			"sum by (layer, verb) (rate(corkboard_cache_keys_total[$__rate_interval]))",
		]),
		graph(
			"Hits in the process",
			"percentunit",
			[
				"sum by (cache) (rate(corkboard_local_cache_hits_total[$__rate_interval])) / (sum by (cache) (rate(corkboard_local_cache_hits_total[$__rate_interval])) + sum by (cache) (rate(corkboard_local_cache_misses_total[$__rate_interval])))",
			],
			{ about: "answers: whole ones.", max: 1 },
		),
		graph("Bytes in the process", "bytes", [
			"sum by (cache, instance) (corkboard_local_cache_bytes)",
		]),
		graph("Entries in the process", "short", [
			"sum by (cache, instance) (corkboard_local_cache_entries)",
		]),
		graph("Evictions, and fills that were refused", "ops", [
			[
				"sum by (cache) (rate(corkboard_local_cache_evictions_total[$__rate_interval]))",
				"{{cache}} evicted",
			],
			[
				"sum by (cache) (rate(corkboard_local_cache_fills_refused_total[$__rate_interval]))",
				"{{cache}} refused",
			],
		]),
		graph(
			"Plans found",
			"percentunit",
			[
				[
					'sum(rate(corkboard_plan_cache_requests_total{result="hit"}[$__rate_interval])) / sum(rate(corkboard_plan_cache_requests_total[$__rate_interval]))',
					"found",
				],
			],
			{ max: 1 },
		),
		graph("Plans kept", "short", ["corkboard_plan_cache_plans"], {
			about: "At most 1,000.",
		}),
		graph(
			"Time to compile plans",
			"s",
			[
				"sum by (instance) (rate(corkboard_plan_compile_seconds_total[$__rate_interval]))",
			],
			{ about: "Seconds in each second." },
		),
		graph(
			"Bytes in shared caches",
			"bytes",
			[
				"max by (layer, host) (corkboard_shared_cache_bytes)",
				[
					"max by (layer, host) (corkboard_shared_cache_limit_bytes)",
					"{{layer}} {{host}} limit",
				],
			],
			{
				about:
					"As the hosts say it, no matter who put it there. Redis: with what its clients and its own tables take.",
			},
		),
		graph(
			"Entries in shared caches",
			"short",
			["max by (layer, host) (corkboard_shared_cache_entries)"],
			{ about: "As the hosts say it, no matter who put them there." },
		),
		graph(
			"Evictions of shared caches",
			"ops",
			[
				"max by (layer, host) (rate(corkboard_shared_cache_evictions_total[$__rate_interval]))",
			],
			{
				about:
					"Entries that left for want of room: more memory, or another host, would keep them.",
			},
		),
	],
};
