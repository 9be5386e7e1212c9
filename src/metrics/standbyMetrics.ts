import type { Registry } from "prom-client";
import { listen } from "../diagnostics.ts";
import {
	STANDBY_STATES,
	STORAGE_CHANNELS,
	type StandbyState,
} from "../storage/diagnostics.ts";
import { CALL_SECONDS } from "./buckets.ts";
import type { Feeds } from "./feeds.ts";
import { Distributions, Values } from "./series.ts";

/** Reads of feed lists from standbys, by the primary that did not answer them. */
export function standbyMetrics(registry: Registry): Feeds {
	const events = new Values(registry, "counter", {
		name: "corkboard_standby_events_total",
		help: "What was done about reads of feed lists whose primary has a standby.",
		labels: ["host", "event"],
	});
	const lags = new Distributions(registry, CALL_SECONDS, {
		name: "corkboard_standby_answer_lag_seconds",
		help: "How far the standby was behind in answers that were used.",
		labels: ["host"],
	});
	const gauge = (
		name: string,
		help: string,
		of: (state: StandbyState) => number | null,
	) =>
		new Values(registry, "gauge", {
			name,
			help,
			aggregator: "max",
			labels: ["host"],
			levels: () =>
				STANDBY_STATES.read().map((state) => [of(state), state.host]),
		});
	gauge(
		"corkboard_standby_switched",
		"1 while all reads of feed lists of the host go to its standby.",
		({ isSwitched }) => (isSwitched ? 1 : 0),
	);
	gauge(
		"corkboard_standby_delay_seconds",
		"After how long the standby is asked too.",
		({ delayMs }) => delayMs / 1_000,
	);
	gauge(
		"corkboard_standby_lag_seconds",
		"How far the standby is behind, or was when the primary last answered.",
		({ lagMs }) => (lagMs === null ? null : lagMs / 1_000),
	);
	return [
		listen(STORAGE_CHANNELS.standby, ({ host, event, reason, lagMs }) => {
			const name = event === "refused" ? `refused ${reason}` : event;
			events.at(`${host}\n${name}`).value++;
			if (lagMs !== undefined) lags.at(host).observe(lagMs / 1_000);
		}),
	];
}
