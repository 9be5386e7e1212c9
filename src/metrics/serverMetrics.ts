import type { Registry } from "prom-client";
import {
	CHANNELS,
	type DatabaseLoss,
	type DatabaseServer,
	type Levels,
} from "../diagnostics.ts";
import type { Feeds } from "./feeds.ts";
import { Values } from "./series.ts";

/** Which servers the names of database hosts lead to. */
export function serverMetrics(registry: Registry): Feeds {
	const changes: Values<"host"> = new Values(registry, "counter", {
		name: "corkboard_database_server_changes_total",
		help: "How often a session found another server behind the name of a host, or one that takes no writes any more.",
		labels: ["host"],
		// From the first scrape on: a rate misses the count with which a series begins.
		collect: () =>
			void CHANNELS.levels.publish({
				pool: ({ host }) => void changes.at(host),
			} satisfies Levels),
	});
	const stopped = new Set<string>();
	const stops: Values<"host"> = new Values(registry, "gauge", {
		name: "corkboard_database_writes_stopped",
		help: "1 while nothing is written to the host, because the server behind its name lacks what the one before acknowledged.",
		aggregator: "max",
		labels: ["host"],
		collect() {
			stops.clear();
			// A host that no topology names any more is not written to, nor stopped.
			CHANNELS.levels.publish({
				pool: ({ host }) => stops.set(stopped.has(host) ? 1 : 0, host),
			} satisfies Levels);
		},
	});
	return [
		[
			CHANNELS.databaseServer,
			(message) => {
				changes.at((message as DatabaseServer).host).value++;
			},
		],
		[
			CHANNELS.databaseLoss,
			(message) => {
				const { host, state } = message as DatabaseLoss;
				if (state === "stopped") stopped.add(host);
				else stopped.delete(host);
			},
		],
	];
}
