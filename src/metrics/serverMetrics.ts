import type { Registry } from "prom-client";
import { listen } from "../diagnostics.ts";
import { POOL_LEVELS, STORAGE_CHANNELS } from "../storage/diagnostics.ts";
import { TOPOLOGY_CHANNELS } from "../topology/diagnostics.ts";
import type { Feeds } from "./feeds.ts";
import { Values } from "./series.ts";

/** Which servers the names of database hosts lead to. */
export function serverMetrics(registry: Registry): Feeds {
	const changes: Values<"host"> = new Values(registry, "counter", {
		name: "corkboard_database_server_changes_total",
		help: "How often a session found another server behind the name of a host, or one that takes no writes any more.",
		labels: ["host"],
		// From the first scrape on: a rate misses the count with which a series begins.
		collect() {
			for (const { host } of POOL_LEVELS.read()) changes.at(host);
		},
	});
	const stopped = new Set<string>();
	new Values(registry, "gauge", {
		name: "corkboard_database_writes_stopped",
		help: "1 while nothing is written to the host, because the server behind its name lacks what the one before acknowledged.",
		aggregator: "max",
		labels: ["host"],
		// A host that no topology names any more is not written to, nor stopped.
		levels: () =>
			POOL_LEVELS.read().map(({ host }) => [stopped.has(host) ? 1 : 0, host]),
	});
	return [
		listen(STORAGE_CHANNELS.databaseServer, (message) => {
			changes.at(message.host).value++;
		}),
		listen(TOPOLOGY_CHANNELS.databaseLoss, ({ host, state }) => {
			if (state === "stopped") stopped.add(host);
			else stopped.delete(host);
		}),
	];
}
