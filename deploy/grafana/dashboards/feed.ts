import { type Dashboard, graph } from "../panels.ts";

export const FEED: Dashboard = {
	name: "feed",
	title: "home feeds",
	description:
		"How pins come into the pools of home feeds, and from there into feeds.",
	alertLabels: ["instance"],
	panels: [
		graph(
			"From a pin to the pools",
			"s",
			[
				[
					"histogram_quantile(0.5, sum by (source, le) (rate(corkboard_feed_push_lag_seconds_bucket[$__rate_interval])))",
					"{{source}} p50",
				],
				[
					"histogram_quantile(0.95, sum by (source, le) (rate(corkboard_feed_push_lag_seconds_bucket[$__rate_interval])))",
					"{{source}} p95",
				],
			],
			{ about: "Until it was in the pools of a page of followers." },
		),
		graph(
			"Pushed",
			"ops",
			[
				[
					"sum by (source) (rate(corkboard_feed_receivers_total[$__rate_interval]))",
					"{{source}} followers",
				],
				[
					"sum by (source) (rate(corkboard_feed_pushed_items_total[$__rate_interval]))",
					"{{source}} pools",
				],
			],
			{
				about:
					"Followers that were looked at, and pools that the pin is new in: the rest are not active, or have the picture.",
			},
		),
		graph(
			"Producers that are pulled",
			"short",
			[["max(corkboard_feed_pulled_producers)", "producers"]],
			{
				about:
					"Their pins are read by looks, because they have too many followers.",
			},
		),
		graph(
			"Looks",
			"ops",
			[
				"sum by (outcome) (rate(corkboard_feed_look_seconds_count[$__rate_interval]))",
			],
			{ about: "Requests that were to add pins to a feed." },
		),
		graph(
			"How long a look takes",
			"s",
			[
				[
					"histogram_quantile(0.5, sum by (le) (rate(corkboard_feed_look_seconds_bucket[$__rate_interval])))",
					"p50",
				],
				[
					"histogram_quantile(0.99, sum by (le) (rate(corkboard_feed_look_seconds_bucket[$__rate_interval])))",
					"p99",
				],
			],
			{
				about:
					"A page waits 150 ms for it, or 300 ms where it reads those whom the user follows.",
			},
		),
		graph(
			"Added, and left out",
			"ops",
			[
				[
					"sum(rate(corkboard_feed_added_items_total[$__rate_interval]))",
					"added",
				],
				"sum by (reason) (rate(corkboard_feed_left_out_items_total[$__rate_interval]))",
			],
			{ about: "Pins that waited, by what a look did with them." },
		),
		graph(
			"Answered by the default",
			"ops",
			[
				"sum by (call, reason) (rate(corkboard_feed_ranker_fallbacks_total[$__rate_interval]))",
			],
			{ about: "Calls of the ranker of CORKBOARD_RANKER." },
		),
	],
};
