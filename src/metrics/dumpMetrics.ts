import type { Registry } from "prom-client";
import { SEEN_DUMPS, type SeenDump } from "../topology/dumps.ts";
import { Values } from "./series.ts";

/** The last dumps, as this process sees them in the store: all processes say the same, so take the maximum. */
export function dumpMetrics(registry: Registry): void {
	const gauge = (
		name: string,
		help: string,
		of: (dump: SeenDump) => number | null,
	) =>
		new Values(registry, "gauge", {
			name: `corkboard_dump_${name}`,
			help,
			aggregator: "max",
			labels: ["purpose"],
			levels: () =>
				SEEN_DUMPS.read()
					.flat()
					.map((dump) => [of(dump), dump.purpose]),
		});
	gauge(
		"finished_timestamp_seconds",
		"When a dump for this purpose was complete last, in seconds since 1970.",
		({ finishedAt }) => finishedAt && finishedAt / 1_000,
	);
	gauge(
		"failed_timestamp_seconds",
		"When a dump for this purpose failed last, in seconds since 1970.",
		({ failedAt }) => failedAt && failedAt / 1_000,
	);
	gauge(
		"bytes",
		"Bytes of the files of the last complete dump.",
		({ bytes }) => bytes,
	);
	gauge(
		"seconds",
		"How long the last run took of the last complete dump.",
		({ seconds }) => seconds,
	);
}
