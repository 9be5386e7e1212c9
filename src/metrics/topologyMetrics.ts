import type { Registry } from "prom-client";
import { listen } from "../diagnostics.ts";
import { TOPOLOGY_AGES, TOPOLOGY_CHANNELS } from "../topology/diagnostics.ts";
import { SEEN_MOVES, type SeenMove } from "../topology/moves.ts";
import type { Feeds } from "./feeds.ts";
import { Values } from "./series.ts";

/** The shard map in use, and moves of shards. */
export function topologyMetrics(registry: Registry): Feeds {
	moveMetrics(registry);
	let version: number | null = null;
	new Values(registry, "gauge", {
		name: "corkboard_topology_version",
		help: "Version of the topology in use. All processes of a fleet should have the same.",
		aggregator: "min",
		levels: () => [[version]],
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
	new Values(registry, "gauge", {
		name: "corkboard_topology_age_seconds",
		help: "Seconds since the topology in use was last known to be the stored one.",
		aggregator: "max",
		levels: () => [0, ...TOPOLOGY_AGES.read()].map((seconds) => [seconds]),
	});
	const rejected = new Values(registry, "counter", {
		name: "corkboard_topology_rejected_total",
		help: "Topologies that were stored and not taken into use.",
	});
	return [
		listen(TOPOLOGY_CHANNELS.topology, ({ state, version: inUse }) => {
			if (version !== inUse) {
				loaded.set(Date.now() / 1_000);
			}
			version = inUse;
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

/** Moves of shards, as this process sees them in the store: all processes say the same, so take the maximum. */
function moveMetrics(registry: Registry): void {
	const moves = () => SEEN_MOVES.read().flat();
	const gauge = (
		name: string,
		help: string,
		of: (move: SeenMove) => number | null,
	) =>
		new Values(registry, "gauge", {
			name: `corkboard_move_${name}`,
			help,
			aggregator: "max",
			labels: ["operation"],
			levels: () => moves().map((move) => [of(move), move.operation]),
		});
	gauge(
		"held",
		"1 while somebody runs a move of shards; absent while the move waits for nobody.",
		// Nobody runs it while it waits for `complete` or `reverse`.
		({ step, isHeld }) => (step === "way open" ? null : isHeld ? 1 : 0),
	);
	gauge(
		"lag_seconds",
		"How far the stream of rows is behind the primary that shards move from.",
		({ lagMs }) => seconds(lagMs),
	);
	gauge(
		"rows",
		"Rows copied of the wave that is worked on.",
		({ copiedRows }) => copiedRows,
	);
	gauge(
		"differences",
		"Rows of the running wave that differ between both hosts. The move stops.",
		({ differences }) => differences,
	);
	gauge(
		"pause_seconds",
		"The longest time for which writes to a wave waited while it switched.",
		({ pauseMs }) => seconds(pauseMs),
	);
	gauge(
		"waiting_seconds",
		"For how long a move has waited for the same thing; moves show says for what.",
		({ waitingMs }) => seconds(waitingMs),
	);
	gauge(
		"way_open_seconds",
		"For how long the first wave that can go back has been on its new host.",
		({ wayOpenMs }) => seconds(wayOpenMs),
	);
	new Values(registry, "gauge", {
		name: "corkboard_move_waves",
		help: "Waves of a move, by state.",
		aggregator: "max",
		labels: ["operation", "state"],
		levels: () =>
			moves().flatMap(({ operation, waves }) =>
				[...waves].map(([state, count]) => [count, operation, state]),
			),
	});
}

function seconds(ms: number | null): number | null {
	return ms === null ? null : ms / 1_000;
}
