import type { Registry } from "prom-client";
import { listen } from "../diagnostics.ts";
import { TOPOLOGY_AGES, TOPOLOGY_CHANNELS } from "../topology/diagnostics.ts";
import { SEEN_MOVES, type SeenMove } from "../topology/moves.ts";
import type { Feeds } from "./feeds.ts";
import { Values } from "./series.ts";

/** The shard map in use, and moves of shards. */
export function topologyMetrics(registry: Registry): Feeds {
	moveMetrics(registry);
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

/** Moves of shards, as this process sees them in the store: all processes say the same, so take the maximum. */
function moveMetrics(registry: Registry): void {
	const gauge = (name: string, help: string, labels: readonly string[] = []) =>
		new Values(registry, "gauge", {
			name: `corkboard_move_${name}`,
			help,
			aggregator: "max",
			labels: ["operation", ...labels],
		});
	const held = new Values(registry, "gauge", {
		name: "corkboard_move_held",
		help: "1 while somebody runs a move of shards; absent while the move waits for nobody.",
		aggregator: "max",
		labels: ["operation"],
		collect() {
			for (const each of all) each.clear();
			for (const moves of SEEN_MOVES.read())
				for (const move of moves) set(move);
		},
	});
	const lag = gauge(
		"lag_seconds",
		"How far the stream of rows is behind the primary that shards move from.",
	);
	const rows = gauge("rows", "Rows copied of the wave that is worked on.");
	const differences = gauge(
		"differences",
		"Rows of the running wave that differ between both hosts. The move stops.",
	);
	const pause = gauge(
		"pause_seconds",
		"The longest time for which writes to a wave waited while it went over.",
	);
	const waiting = gauge(
		"waiting_seconds",
		"For how long a move has waited for the same thing; move status says for what.",
	);
	const way = gauge(
		"way_open_seconds",
		"For how long the first wave that can go back has been on its new host.",
	);
	const waves = gauge("waves", "Waves of a move, by state.", ["state"]);
	const all = [held, lag, rows, differences, pause, waiting, way, waves];
	function set(move: SeenMove): void {
		const { operation } = move;
		// Nobody runs it while it waits for `complete` or `reverse`.
		if (move.step !== "way open") held.set(move.isHeld ? 1 : 0, operation);
		for (const [values, value, unit] of [
			[lag, move.lagMs, 1_000],
			[rows, move.copiedRows, 1],
			[differences, move.differences, 1],
			[pause, move.pauseMs, 1_000],
			[waiting, move.waitingMs, 1_000],
			[way, move.wayOpenMs, 1_000],
		] as const) {
			if (value !== null) values.set(value / unit, operation);
		}
		for (const [state, count] of move.waves) {
			waves.set(count, operation, state);
		}
	}
}
