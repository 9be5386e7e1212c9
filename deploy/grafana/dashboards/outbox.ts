import { areas, type Dashboard, graph } from "../panels.ts";

export const OUTBOX: Dashboard = {
	name: "outbox",
	title: "outbox and invalidation",
	description:
		"What committed writes still have to do elsewhere, and how soon the processes know of each other's writes.",
	panels: [
		graph(
			"Oldest entry",
			"s",
			["max by (host) (corkboard_outbox_oldest_entry_age_seconds)"],
			{
				about:
					"By the host whose shards hold the entry: not by the host that it is for.",
			},
		),
		graph(
			"Entries",
			"short",
			["max by (host) (corkboard_outbox_pending_entries)"],
			{ about: "Up to 1,000 of each shard." },
		),
		graph(
			"Left, by destination",
			"ops",
			[
				"sum by (destination) (rate(corkboard_outbox_failures_total[$__rate_interval]))",
			],
			{
				about:
					"The host that did not take the entry. `shared caches`: an entry that a cache did not take, whichever; while Redis or a memcached host is down it is that fault, and large because every write names cache keys.",
			},
		),
		areas(
			"Handled",
			"ops",
			[
				"sum by (by, result) (rate(corkboard_outbox_entries_total[$__rate_interval]))",
			],
			{
				about:
					"write: right after its commit. worker: later, what writes had left.",
			},
		),
		graph("Passes that left entries", "ops", [
			"sum by (instance) (rate(corkboard_outbox_failed_passes_total[$__rate_interval]))",
		]),
		graph("Shards read past the cache", "short", [
			"corkboard_cache_bypassed_shards",
		]),
		graph(
			"From publishing to applying",
			"s",
			[
				[
					"histogram_quantile(0.5, sum by (le) (rate(corkboard_invalidation_lag_seconds_bucket[$__rate_interval])))",
					"p50",
				],
				[
					"histogram_quantile(0.99, sum by (le) (rate(corkboard_invalidation_lag_seconds_bucket[$__rate_interval])))",
					"p99",
				],
			],
			{
				about:
					"How long it took from asking what was published until it was received.",
			},
		),
		graph("Messages", "ops", [
			"sum by (direction) (rate(corkboard_invalidation_messages_total[$__rate_interval]))",
			[
				"sum (rate(corkboard_invalidation_failed_sends_total[$__rate_interval]))",
				"not taken by Redis",
			],
		]),
		graph("Keys", "ops", [
			"sum by (direction) (rate(corkboard_invalidation_keys_total[$__rate_interval]))",
		]),
		graph("Caches emptied because of missed messages", "short", [
			"sum by (instance, reason) (increase(corkboard_invalidation_gaps_total[$__rate_interval]))",
		]),
		graph("Time without the own cache", "percentunit", [
			"sum by (instance, reason) (rate(corkboard_cache_bypassed_seconds_total[$__rate_interval]))",
		]),
		graph(
			"Oldest entry left, by destination",
			"s",
			["max by (destination) (corkboard_outbox_left_entry_age_seconds)"],
			{ about: "Of what was tried within the last 30 s and not taken." },
		),
	],
};
