import type { Registry } from "prom-client";
import { listen } from "../diagnostics.ts";
import { TOPOLOGY_AGES, TOPOLOGY_CHANNELS } from "../topology/diagnostics.ts";
import type { Feeds } from "./feeds.ts";
import { Values } from "./series.ts";

/** The shard map in use. */
export function topologyMetrics(registry: Registry): Feeds {
	const version = new Values(registry, "gauge", {
		name: "corkboard_topology_version",
		help: "Version of the topology in use. All processes of a fleet should have the same.",
		aggregator: "min",
	});
	const loaded = new Values(registry, "gauge", {
		name: "corkboard_topology_loaded_timestamp_seconds",
		help: "When this version was taken into use, in seconds since 1970.",
		aggregator: "max",
	});
	const isRejected = new Values(registry, "gauge", {
		name: "corkboard_topology_file_rejected",
		help: "1 while the topology as it is stored now is not in use because of its faults.",
		aggregator: "max",
	});
	const isLost = new Values(registry, "gauge", {
		name: "corkboard_topology_store_lost",
		help: "1 while the topology store does not answer. The last good version is served.",
		aggregator: "max",
	});
	const age = new Values(registry, "gauge", {
		name: "corkboard_topology_age_seconds",
		help: "Seconds since the topology in use was last known to be the stored one.",
		aggregator: "max",
		collect() {
			age.set(0);
			for (const seconds of TOPOLOGY_AGES.read()) age.set(seconds);
		},
	});
	const rejected = new Values(registry, "counter", {
		name: "corkboard_topology_rejected_total",
		help: "Topologies that were stored and not taken into use.",
	});
	return [
		listen(TOPOLOGY_CHANNELS.topology, ({ state, version: inUse }) => {
			if (version.at().value !== inUse) {
				loaded.set(Date.now() / 1_000);
			}
			version.set(inUse);
			if (state === "rejected") rejected.at().value++;
			if (state === "loaded" || state === "rejected") {
				isRejected.set(state === "rejected" ? 1 : 0);
			}
			if (state !== "copyFailed") {
				isLost.set(state === "unreachable" ? 1 : 0);
			}
		}),
	];
}
