import type { Registry } from "prom-client";
import { listen } from "../diagnostics.ts";
import { FEED_CHANNELS, PULLED_PRODUCERS } from "../feed/diagnostics.ts";
import { JOB_SECONDS, REQUEST_SECONDS } from "./buckets.ts";
import type { Feeds } from "./feeds.ts";
import { Distributions, Values } from "./series.ts";

/** Home feeds: items that this process pushed to pools, and looks that it answered. */
export function feedMetrics(registry: Registry): Feeds {
	const receivers = new Values(registry, "counter", {
		name: "corkboard_feed_receivers_total",
		help: "Followers, active or not, to whose pools items were pushed.",
		labels: ["source"],
	});
	const pushed = new Values(registry, "counter", {
		name: "corkboard_feed_pushed_items_total",
		help: "Items that are new in a pool.",
		labels: ["source"],
	});
	const lags = new Distributions(registry, JOB_SECONDS, {
		name: "corkboard_feed_push_lag_seconds",
		help: "From an item's creation until it was in the pools of a page of followers.",
		labels: ["source"],
	});
	const looks = new Distributions(registry, REQUEST_SECONDS, {
		name: "corkboard_feed_look_seconds",
		help: "Looks at a home feed that were to add items, by what became of them.",
		labels: ["outcome"],
	});
	const added = new Values(registry, "counter", {
		name: "corkboard_feed_added_items_total",
		help: "Items that looks added to home feeds.",
	});
	const leftOut = new Values(registry, "counter", {
		name: "corkboard_feed_left_out_items_total",
		help: "Items that waited and were not added by a look, by reason.",
		labels: ["reason"],
	});
	const fellBack = new Values(registry, "counter", {
		name: "corkboard_feed_ranker_fallbacks_total",
		help: "Calls of a ranker that the default answered in its place.",
		labels: ["call", "reason"],
	});
	new Values(registry, "gauge", {
		name: "corkboard_feed_pulled_producers",
		help: "Those with so many followers that looks read their items.",
		aggregator: "max",
		levels: () => PULLED_PRODUCERS.read().map((count) => [count]),
	});
	return [
		listen(FEED_CHANNELS.feedPushed, ({ source, ...push }) => {
			receivers.at(source).value += push.receivers;
			pushed.at(source).value += push.rows;
			lags.at(source).observe(push.lagMs / 1_000);
		}),
		listen(FEED_CHANNELS.feedLook, (look) => {
			looks.at(look.outcome).observe(look.ms / 1_000);
			added.at("").value += look.added;
			for (const [reason, count] of look.leftOut) {
				leftOut.at(reason).value += count;
			}
		}),
		listen(FEED_CHANNELS.rankerFellBack, ({ call, why }) => {
			fellBack.at(`${call}\n${why}`).value++;
		}),
	];
}
