import type { Registry } from "prom-client";
import { listen } from "../diagnostics.ts";
import { FRESHNESS_CHANNELS } from "../freshness/diagnostics.ts";
import { CALL_SECONDS } from "./buckets.ts";
import type { Feeds } from "./feeds.ts";
import { Distributions, Values } from "./series.ts";

/** What keeps the caches in the process true: messages of other processes, and the outboxes. */
export function invalidationMetrics(registry: Registry): Feeds {
	const messages = new Values(registry, "counter", {
		name: "corkboard_invalidation_messages_total",
		help: "Messages that say what changed, by direction (sent, received from other processes).",
		labels: ["direction"],
	});
	const keys = new Values(registry, "counter", {
		name: "corkboard_invalidation_keys_total",
		help: "Keys in these messages, by direction.",
		labels: ["direction"],
	});
	const failedSends = new Values(registry, "counter", {
		name: "corkboard_invalidation_failed_sends_total",
		help: "Attempts to send messages that Redis did not take. Their keys are sent again.",
	});
	const gaps = new Values(registry, "counter", {
		name: "corkboard_invalidation_gaps_total",
		help: "How often this process dropped what it cached of some channels because it missed messages, by reason: gap (numbers are missing), all (another process had too many keys to name), unreadable (not our format).",
		labels: ["reason"],
	});
	// From 0, because a rate misses the count with which a series begins.
	for (const reason of ["gap", "all", "unreadable"]) gaps.at(reason);
	const lag = new Distributions(registry, CALL_SECONDS, {
		name: "corkboard_invalidation_lag_seconds",
		help: "How long it took from asking Redis what was published until all of it was received. Measured four times a second.",
	}).at();
	const bypassed = new Values(registry, "gauge", {
		name: "corkboard_cache_bypassed_shards",
		help: "Shards that this process reads past its own cache, because it cannot read their outboxes.",
	});
	bypassed.at();
	/** Since when, in milliseconds of `performance.now()`, by reason. */
	const since = new Map<string, number>();
	const seconds = new Values(registry, "counter", {
		name: "corkboard_cache_bypassed_seconds_total",
		help: "How long this process read past its own cache: without a subscription to some Redis (channel), of some shards whose outboxes it could not read (outboxes), or because its Redis or its memcached hosts are others than the fleet's (lists, objects).",
		labels: ["reason"],
		collect: () => [...since.keys()].forEach(count),
	});
	const isBypassed = new Values(registry, "gauge", {
		name: "corkboard_cache_bypassed",
		help: "1 while this process reads past its own cache: without its subscription to Redis, or of some shards.",
		aggregator: "sum",
		labels: ["reason"],
	});
	const count = (reason: string) => {
		const from = since.get(reason);
		if (from === undefined) return;
		const now = performance.now();
		seconds.at(reason).value += (now - from) / 1_000;
		since.set(reason, now);
	};
	const bypass = (reason: string, on: boolean) => {
		if (on && !since.has(reason)) since.set(reason, performance.now());
		count(reason);
		if (!on) since.delete(reason);
		isBypassed.set(on ? 1 : 0, reason);
		seconds.at(reason);
	};
	return [
		listen(FRESHNESS_CHANNELS.invalidation, (event) => {
			switch (event.kind) {
				case "sent":
					if (!event.ok) failedSends.at().value++;
					else {
						messages.at("sent").value += event.messages;
						keys.at("sent").value += event.keys;
					}
					break;
				case "received":
					messages.at("received").value++;
					keys.at("received").value += event.keys;
					break;
				case "missed":
					gaps.at(event.reason).value++;
					break;
				case "proof":
					lag.observe(event.ms / 1_000);
					break;
				case "subscription":
					bypass("channel", event.lost > 0);
					break;
			}
		}),
		listen(FRESHNESS_CHANNELS.unreadOutboxes, (message) => {
			const { length } = message.shards;
			bypassed.set(length);
			bypass("outboxes", length > 0);
		}),
		listen(FRESHNESS_CHANNELS.cacheAgreement, ({ part, differs }) =>
			bypass(part, differs),
		),
	];
}
