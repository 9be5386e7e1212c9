import type { TracesOptions } from "../traces/openTraces.ts";
import type { Settings } from "./readSettings.ts";

const DEFAULT_ENDPOINT = "http://localhost:4318";

/**
 * Null unless an endpoint or the exporter `otlp` is named. A value that is not
 * supported is a problem: traces that silently do not arrive would be found out when they are needed.
 */
export function tracesOf({
	given,
	value,
	valueOr,
	problems,
}: Settings): TracesOptions | null {
	const isOff =
		given("OTEL_SDK_DISABLED")?.toLowerCase() === "true" ||
		given("OTEL_TRACES_EXPORTER") === "none";
	const endpoint = value("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
	const base = given("OTEL_EXPORTER_OTLP_ENDPOINT");
	const exporter = given("OTEL_TRACES_EXPORTER");
	if (isOff || (endpoint === null && (base ?? exporter) === undefined))
		return null;

	// Only one value of these is supported.
	valueOr("OTEL_TRACES_EXPORTER", "otlp");
	value("OTEL_EXPORTER_OTLP_PROTOCOL");
	value("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL");
	const name = value("OTEL_TRACES_SAMPLER");
	const argument = value("OTEL_TRACES_SAMPLER_ARG");
	const url =
		endpoint ?? `${(base ?? DEFAULT_ENDPOINT).replace(/\/$/, "")}/v1/traces`;
	if (!/^https?:$/.test(URL.parse(url)?.protocol ?? "")) {
		problems.push(
			`${endpoint === null ? "OTEL_EXPORTER_OTLP_ENDPOINT" : "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"} must be an address such as ${DEFAULT_ENDPOINT}.`,
		);
	}
	const maxQueueSize = value("OTEL_BSP_MAX_QUEUE_SIZE");
	return {
		url,
		timeoutMs: valueOr(
			"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
			value("OTEL_EXPORTER_OTLP_TIMEOUT"),
		),
		sampler: {
			ratio: name.endsWith("off") ? 0 : name.endsWith("ratio") ? argument : 1,
			followsParent: name.startsWith("parentbased"),
		},
		readsParent: value("OTEL_PROPAGATORS").includes("tracecontext"),
		batch: {
			scheduledDelayMillis: value("OTEL_BSP_SCHEDULE_DELAY"),
			exportTimeoutMillis: value("OTEL_BSP_EXPORT_TIMEOUT"),
			maxQueueSize,
			maxExportBatchSize: Math.min(
				maxQueueSize,
				value("OTEL_BSP_MAX_EXPORT_BATCH_SIZE"),
			),
		},
	};
}
