import { Counter, Gauge, type Registry } from "prom-client";
import { CHANNELS, type TopologyEvent } from "../diagnostics.ts";
import type { Feeds } from "./feeds.ts";

/** The shard map in use. */
export function topologyMetrics(registry: Registry): Feeds {
	const registers = [registry];
	const version = new Gauge({
		name: "corkboard_topology_version",
		help: "Version of the topology in use. All processes of a fleet should have the same.",
		aggregator: "max",
		registers,
	});
	const rejected = new Counter({
		name: "corkboard_topology_rejected_total",
		help: "Topology files that were not taken into use.",
		registers,
	});
	return [
		[
			CHANNELS.topology,
			(message) => {
				const event = message as TopologyEvent;
				version.set(event.version);
				if (event.state === "rejected") rejected.inc();
			},
		],
	];
}
