import type { Registry } from "prom-client";
import { listen } from "../diagnostics.ts";
import { CHANGES_LEVELS, TOPOLOGY_CHANNELS } from "../topology/diagnostics.ts";
import { askingOnce, type Feeds } from "./feeds.ts";
import { Values } from "./series.ts";

/** The stream that `changes follow` gives out. Other processes have none of these series. */
export function changesMetrics(registry: Registry): Feeds {
	const levels = askingOnce(CHANGES_LEVELS);
	new Values(registry, "gauge", {
		name: "corkboard_changes_lag_seconds",
		help: "For how long the oldest commit on a host may have waited that was not given out; 0 if all were.",
		aggregator: "max",
		labels: ["host"],
		levels: async () =>
			(await levels()).map(({ host, lagMs }) => [lagMs / 1_000, host]),
	});
	let keptAt: number | null = null;
	new Values(registry, "gauge", {
		name: "corkboard_changes_position_timestamp_seconds",
		help: "When the position was last kept, in seconds since 1970.",
		aggregator: "max",
		levels: () => (keptAt === null ? [] : [[keptAt / 1_000]]),
	});
	const given = new Values(registry, "counter", {
		name: "corkboard_changes_given_total",
		help: "Changes that were given out, those of a dump included.",
	});
	return [
		listen(TOPOLOGY_CHANNELS.changesGiven, ({ changes }) => {
			given.at().value += changes;
			keptAt = Date.now();
		}),
	];
}
